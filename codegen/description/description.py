"""What a robot file says, before anything is merged: links, joints, frames, loops.

Every reader makes a `Description`; `assemble` turns one into a `Model`. SI units; angles in radians.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from codegen.geometry import Inertia, Pose, Vec3
from codegen.model import Source

Base = Literal["fixed", "floating"]
GRAVITY: Vec3 = (0.0, 0.0, -9.81)
SCALAR_JOINTS = ("revolute", "prismatic", "screw")
JOINT_TYPES = ("fixed", *SCALAR_JOINTS, "planar", "spherical", "floating")
LOOP_KINDS = ("linear", "coupling", "closure", "expression")


@dataclass(frozen=True, slots=True)
class Link:
    """A rigid link; its inertia is stated in the link's own frame."""

    name: str
    inertia: Inertia = field(default_factory=Inertia)


@dataclass(frozen=True, slots=True)
class DescribedJoint:
    """A joint between two links: `placement`, then the motion, then `attachment` lead to the child's frame.

    `placement` is the joint frame in the parent link, `attachment` the child link in the moving frame; `axis`
    is in the joint frame and for a planar joint the normal of its plane. `turn` and `slide` are formulas of a screw's
    coordinate q: the angle about the axis and the displacement along it (left out: q and 0). `home` is the motion of a
    floating joint at which a fixed base welds it.
    """

    name: str
    type: str
    parent: str
    child: str
    placement: Pose = field(default_factory=Pose)
    axis: Vec3 = (0.0, 0.0, 1.0)
    attachment: Pose = field(default_factory=Pose)
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    armature: float = 0.0
    turn: str = ""
    slide: str = ""
    home: Pose = field(default_factory=Pose)


@dataclass(frozen=True, slots=True)
class DescribedFrame:
    """A named frame on a link."""

    name: str
    link: str
    placement: Pose = field(default_factory=Pose)


@dataclass(frozen=True, slots=True)
class DescribedLoop:
    """A constraint between joints or links; `data` is canonical JSON text laid out by `robot.schema.json`."""

    name: str
    kind: str
    data: str


@dataclass(frozen=True, slots=True, repr=False)
class Description:
    """All that one robot file says. `where` is what error messages call the file."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[DescribedJoint, ...] = ()
    frames: tuple[DescribedFrame, ...] = ()
    loops: tuple[DescribedLoop, ...] = ()
    base: Base = "fixed"
    gravity: Vec3 = GRAVITY
    source: Source = field(default_factory=Source)
    notes: tuple[str, ...] = ()
    where: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return (
            f"<Description {self.name}: {self.base} base, {len(self.links)} links, "
            f"{len(self.joints)} joints, {len(self.frames)} frames, {len(self.loops)} loops>"
        )
