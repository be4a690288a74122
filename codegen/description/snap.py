"""Rounding noise taken out of a description, so that structure (zeros, right angles) survives.

Rotation entries and axis components within the tolerance of 0 or +-1 become exact; lengths below 1e-12 m and
inertia entries below 1e-12 of the trace become zero. A tolerance of 0 switches all of it off.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import IDENTITY, Inertia, Mat3, Pose, Vec3, mat3, vec3

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTH = 1e-12
SHARE = 1e-12


def pose(value: Pose, tolerance: float) -> Pose:
    """The pose with a snapped rotation and translation."""
    if not tolerance:
        return value
    return Pose(rotation(value.rotation, tolerance), length(value.translation))


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
    unit = _rounded(unit, tolerance)
    return vec3(unit / math.hypot(*unit))


def rotation(value: Mat3, tolerance: float) -> Mat3:
    """The rotation, snapped and made orthonormal again."""
    if not tolerance or value == IDENTITY:
        return value
    R = _rounded(np.array(value), tolerance)
    ones = np.argwhere(np.abs(R) == 1.0)
    if len(ones) == 1:
        return mat3(_plane(R, *map(int, ones[0])))
    zeros = np.argwhere(R == 0.0)
    if len(ones) == 0 and len(zeros) == 1 and (np.array(value) != R).any():
        return _orthonormal(R, int(zeros[0][0]))
    return mat3(R)


def inertia(value: Inertia, tolerance: float) -> Inertia:
    """The inertia with negligible entries set to zero."""
    if not tolerance:
        return value
    moment = np.array(value.moment)
    moment[np.abs(moment) < SHARE * np.trace(moment)] = 0.0
    return Inertia(value.mass, length(value.com), mat3(moment))


def _rounded(values: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
    nearest = np.rint(values)
    return np.where(np.abs(values - nearest) <= tolerance, nearest, values)


def _orthonormal(R: NDArray[np.float64], first: int) -> Mat3:
    """The nearby rotation that keeps the direction of row `first`, and so the zero in that row."""
    second, third = (first + 1) % 3, (first + 2) % 3
    a = vec3(R[first] / math.hypot(*R[first]))
    along = sum(x * y for x, y in zip(a, R[second], strict=True))
    across = [float(y) - along * x for x, y in zip(a, R[second], strict=True)]
    b = vec3(np.array(across) / math.hypot(*across))
    rows = {first: a, second: b, third: vec3(np.cross(a, b))}
    return (rows[0], rows[1], rows[2])


def _plane(R: NDArray[np.float64], row: int, column: int) -> NDArray[np.float64]:
    """A rotation that keeps one axis: its 2 x 2 block holds one cosine and one sine, each stated once."""
    sign = R[row, column]
    rows, columns = [i for i in range(3) if i != row], [i for i in range(3) if i != column]
    (a, b), (c, d) = R[np.ix_(rows, columns)]
    # The block is a rotation or a reflection of the plane, by the parity of the place and sign of the one.
    mirror = 1.0 if sign * (-1.0) ** (row + column) > 0.0 else -1.0
    cosine, sine = (a + mirror * d) / 2.0, (c - mirror * b) / 2.0
    size = math.hypot(cosine, sine)
    cosine, sine = cosine / size, sine / size
    out = np.zeros((3, 3))
    out[row, column] = sign
    out[np.ix_(rows, columns)] = [[cosine, -mirror * sine], [sine, mirror * cosine]]
    return out
