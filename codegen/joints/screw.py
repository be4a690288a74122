"""Screw joint: it turns about its axis and slides along it, by formulas of one coordinate q.

A helical joint (turn q, slide 0.01*q), a barrel cam (turn q, slide by any formula), or a follower that only slides. The
formulas are texts or SymPy expressions (`codegen.expressions.derivatives`); the turn is linear in q, so that the
angular velocity is constant in v.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from casadi import SX, cos, sin

from codegen.expressions.derivatives import curve
from codegen.joints.revolute import Revolute
from codegen.spatial import AxisRotation, Step, Translation, unit_axis, zeros

TURN, SLIDE = "q", "0"
"""The formulas unless others are stated: those of a hinge."""


@dataclass(frozen=True, slots=True)
class Screw(Revolute):
    """q: what the formulas of the angle (rad) and of the displacement (m) take, v: its rate."""

    turn: str = TURN
    slide: str = SLIDE
    slides_along: ClassVar[int] = 1

    def transform(self, q: SX) -> tuple[Step, ...]:
        k, sign = unit_axis(self.axis)
        angle, p = curve(self.turn, q).value, SX(3, 1)
        p[k] = sign * curve(self.slide, q).value
        return (Translation(p), AxisRotation(k, cos(angle), sign * sin(angle)))

    def subspace(self, q: SX) -> SX:
        k, sign = unit_axis(self.axis)
        S = SX(6, 1)
        S[k], S[3 + k] = sign * curve(self.turn, q).slope, sign * curve(self.slide, q).slope
        return S

    def drift(self, q: SX, v: SX) -> SX:
        k, sign = unit_axis(self.axis)
        along = zeros(3)
        along[k] = sign * curve(self.slide, q).bend * v * v
        return along
