"""Floating joint: a body that moves freely in its parent (nearly always the world).

`pinocchio`: q = (x, y, z, qx, qy, qz, qw), v = [linear; angular] both in the moving axes.
`mujoco`:    q = (x, y, z, qw, qx, qy, qz), v = [linear in the joint frame's axes; angular in the moving axes].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from casadi import SX, cross, diagcat, vertcat

from codegen.spatial import (
    Rotation,
    Step,
    Translation,
    exp_derivatives,
    log_derivatives,
    quaternion,
    skew3,
    slope,
    so3_exp,
    so3_jacobian,
    so3_jacobian_inverse,
    zeros,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.geometry import Vec3


@dataclass(frozen=True, slots=True)
class Floating:
    """q: position (m) and orientation of the moving frame in the joint frame; v: its twist (m/s, rad/s)."""

    axis: Vec3
    convention: str
    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6
    turns_about: ClassVar[int] = 3
    slides_along: ClassVar[int] = 3

    def neutral(self) -> NDArray[np.float64]:
        upright = quaternion.stored(np.array([0.0, 0.0, 0.0, 1.0]), self.convention)
        return np.concatenate([np.zeros(3), upright])

    def random(self, rng: np.random.Generator, lower: float, upper: float) -> NDArray[np.float64]:
        return np.concatenate([rng.uniform(-1.0, 1.0, 3), quaternion.random(rng)])

    def _rotation(self, q: SX) -> SX:
        return quaternion.matrix(quaternion.xyzw(q[3:], self.convention))

    def transform(self, q: SX) -> tuple[Step, ...]:
        return (Translation(q[:3]), Rotation(self._rotation(q)))

    def subspace(self, q: SX) -> SX:
        S = SX(6, 6)
        S[3:, :3] = SX.eye(3) if self.convention == "pinocchio" else self._rotation(q).T
        S[:3, 3:] = SX.eye(3)
        return S

    def drift(self, q: SX, v: SX) -> SX:
        return cross(v[3:], v[:3]) if self.convention == "pinocchio" else zeros(3)

    def integrate(self, q: SX, dv: SX) -> SX:
        start = quaternion.xyzw(q[3:], self.convention)
        end = quaternion.stored(quaternion.product(start, quaternion.exp(dv[3:])), self.convention)
        step = dv[:3]
        if self.convention == "pinocchio":
            step = quaternion.matrix(start) @ (so3_jacobian(dv[3:]) @ step)
        return vertcat(q[:3] + step, end)

    def difference(self, q0: SX, q1: SX) -> SX:
        start, end = quaternion.xyzw(q0[3:], self.convention), quaternion.xyzw(q1[3:], self.convention)
        turn = quaternion.log(quaternion.product(quaternion.conjugate(start), end))
        step = q1[:3] - q0[:3]
        if self.convention == "pinocchio":
            step = so3_jacobian_inverse(turn) @ (quaternion.matrix(start).T @ step)
        return vertcat(step, turn)

    def bracket(self, u: SX, v: SX) -> SX:
        linear = cross(u[3:], v[:3]) + cross(u[:3], v[3:]) if self.convention == "pinocchio" else zeros(3)
        return vertcat(linear, cross(u[3:], v[3:]))

    def integrate_derivatives(self, dv: SX) -> tuple[SX, SX]:
        v, w = dv[:3], dv[3:]
        R, J = so3_exp(w), so3_jacobian(w)
        if self.convention == "mujoco":
            return diagcat(SX.eye(3), R.T), diagcat(SX.eye(3), J.T)
        return exp_derivatives(R, J, slope(so3_jacobian, w, v), skew3(J @ v), (R.T, J.T))

    def difference_derivatives(self, dv: SX) -> tuple[SX, SX]:
        v, w = dv[:3], dv[3:]
        inverse = so3_jacobian_inverse(w)
        turn = -inverse, inverse.T
        if self.convention == "mujoco":
            return diagcat(-SX.eye(3), turn[0]), diagcat(SX.eye(3), turn[1])
        return log_derivatives(inverse, slope(so3_jacobian, w, v), skew3(so3_jacobian(w) @ v), turn)
