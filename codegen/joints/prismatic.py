"""Prismatic joint: one displacement along one axis of the joint frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from casadi import SX

from codegen.spatial import Step, Translation, unit_axis, zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.geometry import Vec3


@dataclass(frozen=True, slots=True)
class Prismatic:
    """q: the displacement (m), v: its rate, both along `axis`."""

    axis: Vec3
    convention: str
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    turns_about: ClassVar[int] = 0
    slides_along: ClassVar[int] = 1

    def neutral(self) -> NDArray[np.float64]:
        return np.zeros(1)

    def random(self, rng: np.random.Generator, lower: float, upper: float) -> NDArray[np.float64]:
        # within the limits even where these leave out zero and all around it
        return rng.uniform(min(max(lower, -1.0), upper), max(min(upper, 1.0), lower), 1)

    def transform(self, q: SX) -> tuple[Step, ...]:
        k, sign = unit_axis(self.axis)
        p = SX(3, 1)
        p[k] = sign * q
        return (Translation(p),)

    def subspace(self, q: SX) -> SX:
        k, sign = unit_axis(self.axis)
        S = SX(6, 1)
        S[3 + k] = sign
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
