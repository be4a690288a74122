"""Spherical (ball) joint: a unit quaternion, and the angular velocity in the moving axes.

The quaternion is (x, y, z, w) under the convention `pinocchio` and (w, x, y, z) under `mujoco`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from casadi import SX, cross

from codegen.spatial import Rotation, Step, quaternion, so3_exp, so3_jacobian, so3_jacobian_inverse, zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.geometry import Vec3


@dataclass(frozen=True, slots=True)
class Spherical:
    """q: the orientation of the moving frame in the joint frame; v: angular velocity (rad/s), moving axes."""

    axis: Vec3
    convention: str
    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    turns_about: ClassVar[int] = 3
    slides_along: ClassVar[int] = 0

    def neutral(self) -> NDArray[np.float64]:
        return quaternion.stored(np.array([0.0, 0.0, 0.0, 1.0]), self.convention)

    def random(self, rng: np.random.Generator, lower: float, upper: float) -> NDArray[np.float64]:
        return quaternion.random(rng)

    def transform(self, q: SX) -> tuple[Step, ...]:
        return (Rotation(quaternion.matrix(quaternion.xyzw(q, self.convention))),)

    def subspace(self, q: SX) -> SX:
        S = SX(6, 3)
        S[:3, :] = SX.eye(3)
        return S

    def drift(self, q: SX, v: SX) -> SX:
        return zeros(3)

    def integrate(self, q: SX, dv: SX) -> SX:
        turned = quaternion.product(quaternion.xyzw(q, self.convention), quaternion.exp(dv))
        return quaternion.stored(turned, self.convention)

    def difference(self, q0: SX, q1: SX) -> SX:
        start, end = quaternion.xyzw(q0, self.convention), quaternion.xyzw(q1, self.convention)
        return quaternion.log(quaternion.product(quaternion.conjugate(start), end))

    def bracket(self, u: SX, v: SX) -> SX:
        return cross(u, v)

    def integrate_derivatives(self, dv: SX) -> tuple[SX, SX]:
        return so3_exp(dv).T, so3_jacobian(dv).T

    def difference_derivatives(self, dv: SX) -> tuple[SX, SX]:
        inverse = so3_jacobian_inverse(dv)
        return -inverse, inverse.T
