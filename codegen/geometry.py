"""Numeric rigid-body geometry of a description: poses and inertias, as exact immutable values.

Frames: a `Pose` maps coordinates of the child frame to the parent frame, `x_parent = R x_child + p`.
Inertias are stated about the centre of mass, in the axes of the frame that carries them (SI units).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Vec3 = tuple[float, float, float]
Mat3 = tuple[Vec3, Vec3, Vec3]

ZERO: Vec3 = (0.0, 0.0, 0.0)
IDENTITY: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NO_MOMENT: Mat3 = (ZERO, ZERO, ZERO)
ROUNDING = 1e-13  # what products of rotation matrices leave where an exact 0 or 1 belongs
SQUARE = 1e-14  # what R' R may differ from the identity by
EPSILON = float(np.finfo(float).eps)
NEIGHBOURS, FARTHEST = 64, 16.0  # of an angle: how many on either side, and how far at most, in units of EPSILON
LENGTH = 1.9e-17  # what the squares of a cosine and a sine may miss one by


def vec3(values: ArrayLike) -> Vec3:
    """Three numbers as a tuple; negative zeros become zeros, so that equal values hash equally."""
    x, y, z = np.asarray(values, float).reshape(3) + 0.0
    return (float(x), float(y), float(z))


def mat3(values: ArrayLike) -> Mat3:
    """Nine numbers as a tuple of rows."""
    rows = np.asarray(values, float).reshape(3, 3)
    return (vec3(rows[0]), vec3(rows[1]), vec3(rows[2]))


def times(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """A B for a 3 x 3 matrix A, rounded alike on every machine (a BLAS may fuse or reorder its sums)."""
    return np.asarray(sum(np.multiply.outer(A[:, n], B[n]) for n in range(3)))


def skew(v: ArrayLike) -> NDArray[np.float64]:
    """The cross-product matrix [v]x."""
    x, y, z = np.asarray(v, float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@dataclass(frozen=True, slots=True)
class Pose:
    """A frame in its parent: `rotation` (columns are the child's axes) and `translation` (metres)."""

    rotation: Mat3 = IDENTITY
    translation: Vec3 = ZERO

    @property
    def R(self) -> NDArray[np.float64]:
        return np.array(self.rotation)

    @property
    def p(self) -> NDArray[np.float64]:
        return np.array(self.translation)

    def __matmul__(self, inner: Pose) -> Pose:
        """The pose of a frame that is placed by `inner` in this frame."""
        return Pose(mat3(times(self.R, inner.R)), vec3(times(self.R, inner.p) + self.p))

    def inverse(self) -> Pose:
        """The pose of the parent in this frame."""
        return Pose(mat3(self.R.T), vec3(-times(self.R.T, self.p)))


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass (kg), centre of mass (m), and rotational inertia about the centre of mass (kg m^2)."""

    mass: float = 0.0
    com: Vec3 = ZERO
    moment: Mat3 = NO_MOMENT

    @property
    def first_moment(self) -> NDArray[np.float64]:
        """Mass times centre of mass."""
        return self.mass * np.array(self.com)

    @property
    def about_origin(self) -> NDArray[np.float64]:
        """Rotational inertia about the frame's origin (parallel-axis theorem)."""
        c = skew(self.com)
        return np.array(self.moment) + self.mass * times(c, c.T)

    def moved(self, pose: Pose) -> Inertia:
        """The same inertia in the parent frame of `pose`."""
        R = pose.R
        turned = times(times(R, np.array(self.moment)), R.T)
        return Inertia(self.mass, vec3(times(R, np.array(self.com)) + pose.p), mat3((turned + turned.T) / 2))

    def __add__(self, other: Inertia) -> Inertia:
        """The inertia of both bodies welded together, in their common frame."""
        if other == Inertia():
            return self
        if self == Inertia():
            return other
        mass = self.mass + other.mass
        first = self.first_moment + other.first_moment
        com = first / mass if mass else (np.array(self.com) + np.array(other.com)) / 2
        c = skew(com)
        moment = self.about_origin + other.about_origin - mass * times(c, c.T)
        return Inertia(mass, vec3(com), mat3((moment + moment.T) / 2))


def orthonormal(R: NDArray[np.float64], square: float = SQUARE) -> NDArray[np.float64]:
    """The rotation nearest to a matrix that few digits keep from being one; a rotation as it is.

    `square` is what entries of R' R may miss in a rotation. Newton's iteration for the polar decomposition: what is
    missing shrinks with its square.
    """
    while np.abs(rest := times(R.T, R) - np.eye(3)).max() > square:
        R = R - times(R, rest) / 2.0
    return R


def clean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entries within rounding of 0, 1 and -1 made exact."""
    cleaned = np.array(values, float)
    for exact in (0.0, 1.0, -1.0):
        cleaned[np.abs(cleaned - exact) < ROUNDING] = exact
    return cleaned


def axis_turns(R: NDArray[np.float64]) -> tuple[tuple[int, float, float], ...]:
    """Turns (axis, cosine, sine), outermost first, whose product is R; as few as R needs."""
    return min((_turns(R, k) for k in range(3)), key=len)


def _turns(R: NDArray[np.float64], k: int) -> tuple[tuple[int, float, float], ...]:
    """R as Rot_i Rot_j Rot_k, without those turns that are none."""
    i, j = (k + 1) % 3, (k + 2) % 3
    size = math.sqrt(R[j, k] * R[j, k] + R[k, k] * R[k, k])
    first = (R[k, k] / size, -R[j, k] / size) if size > ROUNDING else (R[j, j], R[k, j])
    left = times(axis_rotation(i, first[0], -first[1]), R)
    turns = ((i, *first), (j, left[k, k], left[i, k]), (k, left[j, j], left[j, i]))
    cleaned = ((axis, *clean(np.array([c, s]))) for axis, c, s in turns)
    return tuple((axis, *_of_length_one(float(c), float(s))) for axis, c, s in cleaned if (c, s) != (1.0, 0.0))


@lru_cache(maxsize=1024)
def _of_length_one(c: float, s: float) -> tuple[float, float]:
    """The cosine and sine of the angle nearest to this whose squares add up to one far beyond rounding.

    Vectors turn by both, inertias by formulas that take the sum of squares for one. What a stiff contact leaves of an
    inertia is only right as far as these agree. Where no angle near enough does better (cosines of small angles are
    too coarse for their sines), it stays: links that are out of place by more than rounding cost digits, too.
    """
    if 0.0 in (c, s):
        return c, s
    least = min(abs(c), abs(s))
    away = np.arange(-NEIGHBOURS, NEIGHBOURS + 1) * EPSILON * max(least, 1.0 / (32.0 * least)) / 2.0
    away = away[np.abs(away) <= FARTHEST * EPSILON]
    small = least + away
    large = np.sqrt((1.0 - small) * (1.0 + small))
    (low, low_rest), (high, high_rest) = _squared(small), _squared(large)
    found = np.abs(((high - 1.0) + low) + (high_rest + low_rest)) <= LENGTH
    if not found.any():
        return c, s
    best = int(np.argmin(np.where(found, np.abs(away), np.inf)))
    pair = float(small[best]), float(large[best])
    cosine, sine = pair if abs(c) < abs(s) else pair[::-1]
    return math.copysign(cosine, c), math.copysign(sine, s)


def _squared(x: NDArray[np.floating[Any]]) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
    """x * x, and what rounding leaves out of it (Dekker's product)."""
    wide = 134217729.0 * x
    head = wide - (wide - x)
    tail = x - head
    square = x * x
    return square, ((head * head - square) + 2.0 * head * tail) + tail * tail


def axis_rotation(k: int, c: float, s: float) -> NDArray[np.float64]:
    """The rotation about coordinate axis k by the angle with cosine c and sine s."""
    i, j = (k + 1) % 3, (k + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = c
    R[j, i], R[i, j] = s, -s
    return R
