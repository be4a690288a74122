"""Rotation matrices from what robot files state: roll-pitch-yaw, quaternions, axes and angles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from codegen.errors import RobotError
from codegen.geometry import mat3

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codegen.geometry import Mat3, Vec3


def check_rotation(words: str, R: NDArray[np.float64]) -> None:
    """RobotError, beginning with `words`, on a finite matrix that is no rotation."""
    if np.abs(R.T @ R - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0:
        raise RobotError(f"{words} has a rotation that is not a rotation matrix; make it orthonormal")


def from_rpy(roll: float, pitch: float, yaw: float) -> Mat3:
    """Turns about the fixed x, y and z axes, in this order (radians)."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    return mat3(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def from_wxyz(quaternion: Sequence[float]) -> Mat3:
    """The rotation of a quaternion (w, x, y, z) of any non-zero length."""
    size = math.hypot(*map(float, quaternion))
    w, x, y, z = (float(part) / size for part in quaternion)
    return mat3(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def about(axis: Vec3, angle: float) -> Mat3:
    """The turn by an angle (rad) about a unit axis."""
    half = angle / 2.0
    return from_wxyz((math.cos(half), *(math.sin(half) * part for part in axis)))


def from_z(axis: Vec3) -> Mat3:
    """The smallest rotation that takes the z axis to a unit axis (about x where the axis is -z)."""
    x, y, z = axis
    across = math.hypot(x, y)
    if across == 0.0:
        sign = math.copysign(1.0, z)
        return ((1.0, 0.0, 0.0), (0.0, sign, 0.0), (0.0, 0.0, sign))
    return about((-y / across, x / across, 0.0), math.atan2(across, z))
