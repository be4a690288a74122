"""The motion transform X from a parent to its child, as the steps that it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from casadi import SX, horzcat, vertcat

from codegen.spatial.axes import zeros
from codegen.spatial.inertia import ArticulatedInertia
from codegen.spatial.steps import Step, Transformable

I = TypeVar("I", bound=Transformable)


@dataclass(frozen=True, slots=True)
class Transform:
    """X, outermost step first. `X @ A` takes motions to the child; the other methods bring things back."""

    steps: tuple[Step, ...]

    def __matmul__(self, A: SX) -> SX:
        """X A: motions (6 x c) of the parent, in the child's frame."""
        for step in self.steps:
            A = step.motion(A)
        return A

    def force(self, F: SX) -> SX:
        """X' F: forces (6 x c) on the child, in the parent's frame."""
        for step in reversed(self.steps):
            F = step.force(F)
        return F

    def back(self, A: SX) -> SX:
        """X^-1 A: motions (6 x c) of the child, in the parent's frame. They shift as forces do, the other way round."""
        return _swapped(self.force(_swapped(A)))

    def onward(self, F: SX) -> SX:
        """X'^-1 F: forces (6 x c) on the parent, in the child's frame."""
        return _swapped(self @ _swapped(F))

    def inertia(self, inertia: I) -> I:
        """X' inertia X: an inertia of the child, in the parent's frame."""
        for step in reversed(self.steps):
            inertia = step.carry(inertia)
        return inertia

    def vector(self, x: SX) -> SX:
        """Free vectors (3 x c) of the parent, along the child's axes."""
        for step in self.steps:
            x = step.vector(x)
        return x

    def outward(self, x: SX) -> SX:
        """Free vectors (3 x c) of the child, along the parent's axes."""
        for step in reversed(self.steps):
            x = step.outward(x)
        return x

    def point(self, x: SX) -> SX:
        """A point of the child, in the parent's frame."""
        for step in reversed(self.steps):
            x = step.point(x)
        return x

    @property
    def origin(self) -> SX:
        """The child's origin in the parent's frame."""
        return self.point(zeros(3))

    def compliance(self, Omega: SX) -> SX:
        """X Omega X' for a symmetric Omega (6 x 6, accelerations from forces) of the parent, in the child's frame.

        To forces, a compliance is what an inertia is to motions, the other way round: its linear block turns and
        shifts as an inertia's angular one.
        """
        swapped = ArticulatedInertia(Omega[3:, 3:], Omega[3:, :3], Omega[:3, :3])
        for step in self.steps:
            swapped = step.carry_in(swapped)
        return vertcat(horzcat(swapped.M, swapped.H.T), horzcat(swapped.H, swapped.I))


def _swapped(A: SX) -> SX:
    """The angular and the linear part of motions or forces in each other's place."""
    return vertcat(A[3:, :], A[:3, :])
