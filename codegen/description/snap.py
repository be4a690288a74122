"""Snapping: rounding noise taken out of a description, so that structure (zeros, right angles) survives.

Entries of rotations and components of axes within the tolerance of zero become zero, as far as a rotation is left (so
the tolerance is an angle, in radians). Lengths below 1e-12 m become zero, and entries of inertias below 1e-12 of the
trace, or below what the mass has at 1e-9 m. A tolerance of 0 switches all of it off. Rotations that are stated with
few digits are made orthonormal either way.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import Inertia, Mat3, Pose, Vec3, mat3, orthonormal, vec3

if TYPE_CHECKING:
    from numpy.typing import NDArray

SNAP = 1e-11  # rad; entries of rotations and axes below this become zeros where no other tolerance is asked for
LENGTH = 1e-12
SHARE = 1e-12
GYRATION = 1e-9  # m; what turns a mass by a radius like this is nothing


def pose(value: Pose, tolerance: float) -> Pose:
    """The pose with a snapped rotation and translation."""
    return Pose(rotation(value.rotation, tolerance), length(value.translation) if tolerance else value.translation)


def length(value: Vec3) -> Vec3:
    """The vector (m) with its negligible components set to zero."""
    x, y, z = value
    return (
        x if abs(x) >= LENGTH else 0.0,
        y if abs(y) >= LENGTH else 0.0,
        z if abs(z) >= LENGTH else 0.0,
    )


def axis(value: Vec3, tolerance: float) -> Vec3:
    """The unit vector along `value`, snapped."""
    unit = np.array(value) / math.hypot(*value)
    if not tolerance:
        return vec3(unit)
    unit = np.where(np.abs(unit) <= tolerance, 0.0, unit)
    return vec3(unit / math.hypot(*unit))


def rotation(value: Mat3, tolerance: float) -> Mat3:
    """The rotation, orthonormal, with zeros where a rotation nearby (rad) has them."""
    stated = np.array(value)
    R = orthonormal(stated)
    small = np.minimum(np.abs(R), np.abs(stated)) <= tolerance
    if not tolerance or not small.any():
        return mat3(R)
    pairs = small.sum(axis=1)[:, None] + small.sum(axis=0) == 4
    if (kept := np.argwhere(pairs & ~small)).size:
        return mat3(_plane(R, int(kept[0][0]), int(kept[0][1]), tolerance))
    row, column = divmod(int(np.argmin(np.where(small, np.abs(R), np.inf))), 3)
    return mat3(R) if R[row, column] == 0.0 else _with_zero(R, row, column)


def inertia(value: Inertia, tolerance: float) -> Inertia:
    """The inertia with negligible entries set to zero."""
    if not tolerance:
        return value
    moment = np.array(value.moment)
    moment[np.abs(moment) < max(SHARE * np.trace(moment), value.mass * GYRATION**2)] = 0.0
    return Inertia(value.mass, length(value.com), mat3(moment))


def _with_zero(R: NDArray[np.float64], row: int, column: int) -> Mat3:
    """The nearby rotation with this zero: its row keeps its direction otherwise."""
    a = np.where(np.arange(3) == column, 0.0, R[row])
    a = a / math.hypot(*a)
    second, third = (row + 1) % 3, (row + 2) % 3
    along = sum(x * y for x, y in zip(a, R[second], strict=True))
    across = [float(y) - along * x for x, y in zip(a, R[second], strict=True)]
    b = np.array(across) / math.hypot(*across)
    rows = {row: vec3(a), second: vec3(b), third: vec3(np.cross(a, b))}
    return (rows[0], rows[1], rows[2])


def _plane(R: NDArray[np.float64], row: int, column: int, tolerance: float) -> NDArray[np.float64]:
    """A rotation that keeps one axis: its 2 x 2 block holds one cosine and one sine, each stated once."""
    sign = math.copysign(1.0, R[row, column])
    rows, columns = [i for i in range(3) if i != row], [i for i in range(3) if i != column]
    (a, b), (c, d) = R[np.ix_(rows, columns)]
    # The block is a rotation or a reflection of the plane, by the parity of the place and sign of the one.
    mirror = 1.0 if sign * (-1.0) ** (row + column) > 0.0 else -1.0
    cosine, sine = (0.0 if abs(x) <= tolerance else x for x in ((a + mirror * d) / 2.0, (c - mirror * b) / 2.0))
    size = math.hypot(cosine, sine)
    cosine, sine = cosine / size, sine / size
    out = np.zeros((3, 3))
    out[row, column] = sign
    out[np.ix_(rows, columns)] = [[cosine, -mirror * sine], [sine, mirror * cosine]]
    return out
