"""Unit quaternions over SX, in the order (x, y, z, w); other stored orders are converted at the joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from casadi import SX, atan2, dot, horzcat, if_else, sqrt, vertcat

from codegen.spatial.axes import cross3
from codegen.spatial.lie import SMALL, exp_quaternion, safe, series, switch

if TYPE_CHECKING:
    from numpy.typing import NDArray

Q = TypeVar("Q", SX, "NDArray[np.float64]")

exp = exp_quaternion


def xyzw(q: SX, convention: str) -> SX:
    """The stored quaternion in the order (x, y, z, w)."""
    return q if convention == "pinocchio" else vertcat(q[1:4], q[0])


def stored(q: Q, convention: str) -> Q:
    """A quaternion (x, y, z, w) in the order in which the convention stores it."""
    if convention == "pinocchio":
        return q
    return np.roll(q, 1) if isinstance(q, np.ndarray) else vertcat(q[3], q[:3])


def random(rng: np.random.Generator) -> NDArray[np.float64]:
    """A uniformly random unit quaternion (any order)."""
    q = rng.standard_normal(4)
    return np.asarray(q / np.linalg.norm(q))


def matrix(q: SX) -> SX:
    """The rotation matrix (columns: the turned axes) of a unit quaternion."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    x2, y2, z2 = 2 * x, 2 * y, 2 * z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return vertcat(
        horzcat(1 - (yy + zz), xy - wz, xz + wy),
        horzcat(xy + wz, 1 - (xx + zz), yz - wx),
        horzcat(xz - wy, yz + wx, 1 - (xx + yy)),
    )


def conjugate(q: SX) -> SX:
    """The inverse rotation."""
    return vertcat(-q[:3], q[3])


def product(a: SX, b: SX) -> SX:
    """The rotation b followed, in the outer frame, by a."""
    return vertcat(
        a[3] * b[:3] + b[3] * a[:3] + cross3(a[:3], b[:3]),
        a[3] * b[3] - dot(a[:3], b[:3]),
    )


def log(q: SX) -> SX:
    """The rotation vector of a unit quaternion, of the shorter turn (length at most pi)."""
    squared = dot(q[:3], q[:3])
    w = if_else(q[3] < 0, -q[3], q[3])
    sign = if_else(q[3] < 0, -1.0, 1.0)
    sine = sqrt(safe(squared))
    # asin(s)/s as a series in s squared: the turn is 2 asin(|q_xyz|)
    near = series(squared, 2, 1 / 3, 3 / 20, 5 / 56, 35 / 576, 63 / 1408, 231 / 6656)
    return sign * switch(squared, near, 2 * atan2(sine, w) / sine) * q[:3]


__all__ = ["SMALL", "conjugate", "exp", "log", "matrix", "product", "random", "stored", "xyzw"]
