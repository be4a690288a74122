"""Reframed floating joint: another frame of its body is followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from casadi import SX

from codegen.geometry import Pose
from codegen.spatial import Transform, constant, cross3, motion_cross, placement_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from codegen.joints import JointType
    from codegen.spatial import Step


@dataclass(frozen=True, slots=True)
class ReframedBase:
    """A floating joint of whose body another frame is followed, at `pose` in the one that `joint` moves.

    Its velocity v is [angular; linear] along the frame's axes, or with `linear_first` the other way round.
    """

    joint: JointType
    pose: Pose
    linear_first: bool
    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6

    def neutral(self) -> NDArray[np.float64]:
        return self.joint.neutral()

    def random(self, rng: np.random.Generator, lower: float, upper: float) -> NDArray[np.float64]:
        return self.joint.random(rng, lower, upper)

    def transform(self, q: SX) -> tuple[Step, ...]:
        return (*self.joint.transform(q), *placement_steps(self.pose))

    def subspace(self, q: SX) -> SX:
        order = (3, 4, 5, 0, 1, 2) if self.linear_first else range(6)
        return SX.eye(6)[:, list(order)]

    def drift(self, q: SX, v: SX) -> SX:
        twist = self.subspace(q) @ v
        return cross3(twist[:3], twist[3:])

    def integrate(self, q: SX, dv: SX) -> SX:
        return self.joint.integrate(q, self.outwards(q, dv))

    def difference(self, q0: SX, q1: SX) -> SX:
        return self.motion(q0, self.joint.difference(q0, q1))

    def bracket(self, u: SX, v: SX) -> SX:
        S = self.subspace(u)
        return S.T @ motion_cross(S @ u, S @ v)

    def integrate_derivatives(self, dv: SX) -> tuple[SX, SX]:
        return self._own(self.joint.integrate_derivatives, dv)

    def difference_derivatives(self, dv: SX) -> tuple[SX, SX]:
        return self._own(self.joint.difference_derivatives, dv)

    def _own(self, derivatives: Callable[[SX], tuple[SX, SX]], dv: SX) -> tuple[SX, SX]:
        """Derivatives of `joint` in the coordinates of this one, which are a constant matrix times those of the other.

        Joints with velocities along the world's axes are not reframed where velocities matter (`base_frame`).
        """
        q = constant(self.joint.neutral())
        inwards, back = self.motion(q, SX.eye(6)), self.outwards(q, SX.eye(6))
        by_start, by_other = derivatives(back @ dv)
        return inwards @ by_start @ back, inwards @ by_other @ back

    def motion(self, q: SX, v: SX) -> SX:
        """Velocity or acceleration coordinates of `joint`, as this one has them."""
        return self.subspace(q).T @ (Transform(placement_steps(self.pose)) @ (self.joint.subspace(q) @ v))

    def force(self, q: SX, tau: SX) -> SX:
        """Joint forces of `joint`, as this one feels them."""
        back = Transform(placement_steps(self.pose.inverse()))
        return self.subspace(q).T @ back.force(self.joint.subspace(q) @ tau)

    def outwards(self, q: SX, v: SX) -> SX:
        """Velocity or acceleration coordinates of this joint, as `joint` has them."""
        back = Transform(placement_steps(self.pose.inverse()))
        return self.joint.subspace(q).T @ (back @ (self.subspace(q) @ v))
