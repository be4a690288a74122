"""Planar joint: motion in the x-y plane of the joint frame, as (x, y, angle).

Velocities are [v_x, v_y, w_z] in the moving axes (convention `pinocchio`) or with v_x, v_y along the joint
frame's axes (convention `mujoco`, where v is the rate of q).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from casadi import SX, cos, sin, vertcat

from codegen.spatial import (
    AxisRotation,
    Step,
    Translation,
    exp_derivatives,
    log_derivatives,
    slope,
    so2_jacobian,
    zeros,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.geometry import Vec3


@dataclass(frozen=True, slots=True)
class Planar:
    """q: (x, y, angle) in m and rad; the plane's normal is the joint frame's z axis."""

    axis: Vec3
    convention: str
    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3
    turns_about: ClassVar[int] = 1
    slides_along: ClassVar[int] = 2

    def neutral(self) -> NDArray[np.float64]:
        return np.zeros(3)

    def random(self, rng: np.random.Generator, lower: float, upper: float) -> NDArray[np.float64]:
        return rng.uniform([-1.0, -1.0, -math.pi], [1.0, 1.0, math.pi])

    def transform(self, q: SX) -> tuple[Step, ...]:
        return (Translation(vertcat(q[0], q[1], SX(1, 1))), AxisRotation(2, cos(q[2]), sin(q[2])))

    def subspace(self, q: SX) -> SX:
        S = SX(6, 3)
        S[2, 2] = 1
        S[3:5, 0:2] = self._axes(q)
        return S

    def _axes(self, q: SX) -> SX:
        """The directions of v_x and v_y in the moving axes."""
        if self.convention == "pinocchio":
            return SX.eye(2)
        c, s = cos(q[2]), sin(q[2])
        return vertcat(SX([[1, 0]]) * c + SX([[0, 1]]) * s, SX([[0, 1]]) * c - SX([[1, 0]]) * s)

    def drift(self, q: SX, v: SX) -> SX:
        if self.convention == "mujoco":
            return zeros(3)
        return vertcat(-v[2] * v[1], v[2] * v[0], SX(1, 1))

    def integrate(self, q: SX, dv: SX) -> SX:
        if self.convention == "mujoco":
            return q + dv
        c, s = cos(q[2]), sin(q[2])
        step = so2_jacobian(dv[2]) @ dv[:2]
        return vertcat(q[0] + c * step[0] - s * step[1], q[1] + s * step[0] + c * step[1], q[2] + dv[2])

    def difference(self, q0: SX, q1: SX) -> SX:
        dq = q1 - q0
        if self.convention == "mujoco":
            return dq
        c, s = cos(q0[2]), sin(q0[2])
        local = vertcat(c * dq[0] + s * dq[1], c * dq[1] - s * dq[0])
        J = so2_jacobian(dq[2])
        det = J[0, 0] * J[0, 0] + J[1, 0] * J[1, 0]
        return vertcat(J.T @ local / det, dq[2])

    def bracket(self, u: SX, v: SX) -> SX:
        if self.convention == "mujoco":
            return zeros(3)
        return vertcat(v[2] * _across(u[:2]) - u[2] * _across(v[:2]), SX(1, 1))

    def integrate_derivatives(self, dv: SX) -> tuple[SX, SX]:
        if self.convention == "mujoco":
            return SX.eye(3), SX.eye(3)
        v, w = dv[:2], dv[2]
        c, s, J = cos(w), sin(w), so2_jacobian(w)
        R = vertcat(SX([[1, 0]]) * c - SX([[0, 1]]) * s, SX([[1, 0]]) * s + SX([[0, 1]]) * c)
        return exp_derivatives(R, J, slope(so2_jacobian, w, v), _across(J @ v), (SX.eye(1), SX.eye(1)))

    def difference_derivatives(self, dv: SX) -> tuple[SX, SX]:
        if self.convention == "mujoco":
            return -SX.eye(3), SX.eye(3)
        v, w = dv[:2], dv[2]
        J = so2_jacobian(w)
        inverse = J.T / (J[0, 0] * J[0, 0] + J[1, 0] * J[1, 0])
        return log_derivatives(inverse, slope(so2_jacobian, w, v), _across(J @ v), (-SX.eye(1), SX.eye(1)))


def _across(p: SX) -> SX:
    """A vector in the plane, a quarter turn clockwise: a unit turn about the normal moves its end by -_across(p)."""
    return vertcat(p[1], -p[0])
