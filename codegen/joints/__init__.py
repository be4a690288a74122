"""The joints: one small class per file, one line per joint in `JOINTS`.

A joint moves its body's frame in the joint frame (the body's `placement`). Every class states
  nq, nv                 widths of its positions and velocities
  turns_about            how many axes it turns about
  slides_along           how many axes it slides along; where neither is more than one, this axis is `axis`
  transform(q)           the steps from the joint frame to the moving frame
  subspace(q)            S, 6 x nv, [angular; linear] in the moving frame
  drift(q, v)            classical acceleration of the moving origin in the joint frame at zero vdot, moving axes
  integrate(q, dv)       the configuration reached by the constant velocity dv over unit time
  difference(q0, q1)     the dv that takes q0 to q1
  bracket(u, v)          of velocities (nv): how moving along u and then v differs from along v and then u
  integrate_derivatives(dv)   by start and dv (nv x nv): how the end moves, in the velocity coordinates there
  difference_derivatives(dv)  by start and end: how the dv between them changes, at its value dv
  neutral(), random()    valid positions, in NumPy
One that only turns about one axis, or only slides along it, does so by q; a screw does both, by formulas of q.
The angular velocity of every joint here is S_ang v with constant S_ang, so drift is linear only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from codegen.joints.floating import Floating
from codegen.joints.planar import Planar
from codegen.joints.prismatic import Prismatic
from codegen.joints.revolute import Revolute
from codegen.joints.screw import SLIDE as SLIDE
from codegen.joints.screw import TURN as TURN
from codegen.joints.screw import Screw as Screw
from codegen.joints.spherical import Spherical

if TYPE_CHECKING:
    import numpy as np
    from casadi import SX
    from numpy.typing import NDArray

    from codegen.geometry import Vec3
    from codegen.spatial import Step


class JointType(Protocol):
    """What the recursion asks of a joint; see the module docstring."""

    @property
    def nq(self) -> int: ...
    @property
    def nv(self) -> int: ...
    def neutral(self) -> NDArray[np.float64]: ...
    def random(self, rng: np.random.Generator, lower: float, upper: float) -> NDArray[np.float64]: ...
    def transform(self, q: SX) -> tuple[Step, ...]: ...
    def subspace(self, q: SX) -> SX: ...
    def drift(self, q: SX, v: SX) -> SX: ...
    def integrate(self, q: SX, dv: SX) -> SX: ...
    def difference(self, q0: SX, q1: SX) -> SX: ...
    def bracket(self, u: SX, v: SX) -> SX: ...
    def integrate_derivatives(self, dv: SX) -> tuple[SX, SX]: ...
    def difference_derivatives(self, dv: SX) -> tuple[SX, SX]: ...


class JointFactory(Protocol):
    """A joint class: made from an axis (a coordinate axis, up to sign) and a base-velocity convention."""

    @property
    def turns_about(self) -> int: ...
    @property
    def slides_along(self) -> int: ...
    def __call__(self, axis: Vec3, convention: Literal["pinocchio", "mujoco"]) -> JointType: ...


JOINTS: dict[str, JointFactory] = {
    "revolute": Revolute,
    "prismatic": Prismatic,
    "screw": Screw,
    "planar": Planar,
    "spherical": Spherical,
    "floating": Floating,
}
