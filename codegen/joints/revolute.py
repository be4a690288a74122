"""Revolute joint: one angle about one axis of the joint frame (a continuous joint is one without limits)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from casadi import SX, cos, sin

from codegen.spatial import AxisRotation, Step, unit_axis, zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.geometry import Vec3


@dataclass(frozen=True, slots=True)
class Revolute:
    """q: the angle (rad), v: its rate, both about `axis`."""

    axis: Vec3
    convention: str
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    turns_about: ClassVar[int] = 1
    slides_along: ClassVar[int] = 0

    def neutral(self) -> NDArray[np.float64]:
        return np.zeros(1)

    def random(self, rng: np.random.Generator, lower: float, upper: float) -> NDArray[np.float64]:
        # within the limits even where these leave out zero and all around it
        return rng.uniform(min(max(lower, -math.pi), upper), max(min(upper, math.pi), lower), 1)

    def transform(self, q: SX) -> tuple[Step, ...]:
        k, sign = unit_axis(self.axis)
        return (AxisRotation(k, cos(q), sign * sin(q)),)

    def subspace(self, q: SX) -> SX:
        k, sign = unit_axis(self.axis)
        S = SX(6, 1)
        S[k] = sign
        return S

    def drift(self, q: SX, v: SX) -> SX:
        return zeros(3)

    def integrate(self, q: SX, dv: SX) -> SX:
        return q + dv

    def difference(self, q0: SX, q1: SX) -> SX:
        return q1 - q0

    def bracket(self, u: SX, v: SX) -> SX:
        return zeros(1)

    def integrate_derivatives(self, dv: SX) -> tuple[SX, SX]:
        return SX.eye(1), SX.eye(1)

    def difference_derivatives(self, dv: SX) -> tuple[SX, SX]:
        return -SX.eye(1), SX.eye(1)
