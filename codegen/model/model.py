"""The frozen model of a robot: a tree of nodes (clusters of one or more bodies), loops and frames.

Bodies are numbered parents before children and depth first; -1 is the world. Node and coordinate order
follow the bodies. A body's frame is its joint's moving frame: pose in the parent body =
`placement` then the joint's motion. Gravity is the acceleration of free fall in world axes (m/s^2).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from codegen.errors import RobotError
from codegen.geometry import Inertia, Pose, Vec3
from codegen.joints import JOINTS, SLIDE, TURN, Screw

if TYPE_CHECKING:
    from codegen.joints import JointType

Convention = Literal["pinocchio", "mujoco"]


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint: its type (a key of `codegen.joints.JOINTS`), axis in the joint frame, limits, armature.

    `armature` is the reflected rotor inertia (kg m^2 or kg), added to the joint-space inertia.
    """

    name: str
    type: str
    axis: Vec3 = (0.0, 0.0, 1.0)
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    armature: float = 0.0

    def kinematics(self, convention: Convention) -> JointType:
        """The mathematics of this joint under a base-velocity convention."""
        return JOINTS[self.type](self.axis, convention)

    @property
    def turns_about(self) -> int:
        """How many axes it turns about."""
        return JOINTS[self.type].turns_about

    @property
    def slides_along(self) -> int:
        """How many axes it slides along."""
        return JOINTS[self.type].slides_along

    @property
    def single_axis(self) -> bool:
        """Whether it moves about and along its axis only: the same the other way round, if the axis is."""
        return max(self.turns_about, self.slides_along) == 1

    @property
    def hinge(self) -> bool:
        """Whether it turns about its axis, and does nothing else."""
        return (self.turns_about, self.slides_along) == (1, 0)

    @property
    def slide(self) -> bool:
        """Whether it slides along its axis, and does nothing else."""
        return (self.turns_about, self.slides_along) == (0, 1)

    @property
    def ball(self) -> bool:
        """Whether it turns about its origin in all ways, and does nothing else."""
        return (self.turns_about, self.slides_along) == (3, 0)

    @property
    def free(self) -> bool:
        """Whether it moves in all ways."""
        return (self.turns_about, self.slides_along) == (3, 3)


@dataclass(frozen=True, slots=True)
class ScrewJoint(Joint):
    """A screw: the formulas, as texts of q, by which it turns about its axis (rad) and slides along it (m)."""

    turns_by: str = TURN
    slides_by: str = SLIDE

    def kinematics(self, convention: Convention) -> JointType:
        return Screw(self.axis, convention, self.turns_by, self.slides_by)


@dataclass(frozen=True, slots=True)
class Body:
    """A moving body, the joint that carries it, and where that joint sits in the parent body."""

    name: str
    parent: int
    joint: Joint
    placement: Pose
    inertia: Inertia


@dataclass(frozen=True, slots=True)
class Frame:
    """A named frame on a body (-1: the world)."""

    name: str
    body: int
    placement: Pose = field(default_factory=Pose)


@dataclass(frozen=True, slots=True)
class Loop:
    """A constraint between the joints of one mechanism, as its description states it.

    `kind` and `data` (canonical JSON text) follow the published schema; `joints` are the joints it ties and
    `independent` those that the user drives.
    """

    name: str
    kind: str
    joints: tuple[str, ...]
    independent: tuple[str, ...]
    data: str

    @property
    def stated(self) -> dict[str, Any]:
        """The data, laid out as in the published schema."""
        data: dict[str, Any] = json.loads(self.data)
        return data

    @property
    def explicit(self) -> bool:
        """Whether the loop gives its dependent joints' positions outright."""
        return self.kind in ("linear", "coupling") or '"explicit"' in self.data


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the tree: the bodies of a cluster and the loops that tie them."""

    bodies: tuple[int, ...]
    parent: int
    loops: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Where a description comes from."""

    origin: str = ""
    version: str = ""
    licence: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Model:
    """An immutable robot. Equal content means equal hash; `digest` is the same on every machine."""

    name: str
    bodies: tuple[Body, ...]
    nodes: tuple[Node, ...]
    frames: tuple[Frame, ...]
    loops: tuple[Loop, ...] = ()
    gravity: Vec3 = (0.0, 0.0, -9.81)
    convention: Convention = "pinocchio"
    source: Source = field(default_factory=Source)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        base = "floating" if self.floating else "fixed"
        loops = f", {len(self.loops)} loops" if self.loops else ""
        return (
            f"<{type(self).__name__} {self.name}: {base} base, {len(self.bodies)} bodies, nq {self.nq}, nv {self.nv}"
            f"{loops}, {self.convention} convention, {self.digest[:12]}>"
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the content, notes and provenance aside."""
        parts: tuple[Body | Node | Frame | Loop, ...] = (*self.bodies, *self.nodes, *self.frames, *self.loops)
        content = (self.name, *(astuple(part) for part in parts))
        return hashlib.sha256(repr((content, self.gravity, self.convention)).encode()).hexdigest()

    @property
    def floating(self) -> bool:
        """Whether some body moves freely in the world."""
        return any(body.joint.free and body.parent < 0 for body in self.bodies)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the order of the coordinates."""
        return tuple(body.joint.name for body in self.bodies)

    @property
    def joints(self) -> tuple[JointType, ...]:
        """The mathematics of every joint, in the order of the bodies."""
        return tuple(body.joint.kinematics(self.convention) for body in self.bodies)

    @property
    def opened(self) -> Model:
        """The spanning tree: the same bodies, each a node of its own, without loops."""
        return replace(self, nodes=tuple(Node((b,), body.parent) for b, body in enumerate(self.bodies)), loops=())

    @property
    def position_bodies(self) -> tuple[tuple[int, ...], ...]:
        """By nodes, the bodies whose joint positions are coordinates: no explicit loop gives them."""
        return self._own(explicit_only=True)

    @property
    def velocity_bodies(self) -> tuple[tuple[int, ...], ...]:
        """By nodes, the bodies whose joint velocities are coordinates: no loop gives them."""
        return self._own(explicit_only=False)

    def _own(self, explicit_only: bool) -> tuple[tuple[int, ...], ...]:
        given = {
            name
            for loop in self.loops
            if loop.explicit or not explicit_only
            for name in set(loop.joints) - set(loop.independent)
        }
        return tuple(tuple(b for b in node.bodies if self.bodies[b].joint.name not in given) for node in self.nodes)

    @property
    def nq(self) -> int:
        """Number of position coordinates."""
        return self.q_slices[-1].stop if self.bodies else 0

    @property
    def nv(self) -> int:
        """Number of velocity coordinates (degrees of freedom)."""
        return self.v_slices[-1].stop if self.bodies else 0

    @property
    def q_slices(self) -> tuple[slice, ...]:
        """Where each body's joint finds its positions in q; empty where an explicit loop gives them."""
        own = {b for bodies in self.position_bodies for b in bodies}
        return _slices([joint.nq if b in own else 0 for b, joint in enumerate(self.joints)])

    @property
    def v_slices(self) -> tuple[slice, ...]:
        """Where each body's joint finds its velocities in v (its forces in tau); empty where a loop gives them."""
        own = {b for bodies in self.velocity_bodies for b in bodies}
        return _slices([joint.nv if b in own else 0 for b, joint in enumerate(self.joints)])

    @property
    def tips(self) -> tuple[str, ...]:
        """The frames of the bodies that carry no other body; rotors, which a loop drives outright, left out.

        All of these bodies if a loop drives every one.
        """
        parents = {body.parent for body in self.bodies}
        leaves = [b for b in range(len(self.bodies)) if b not in parents]
        own = {b for bodies in self.position_bodies for b in bodies}
        return tuple(self.bodies[b].name for b in [b for b in leaves if b in own] or leaves)

    def frame(self, name: str) -> Frame:
        """The frame called `name`; RobotError if there is none."""
        for frame in self.frames:
            if frame.name == name:
                return frame
        raise RobotError(f"{self.name}: there is no frame {name!r}; `rigidc info ROBOT --frames` lists them")


def _slices(widths: Sequence[int]) -> tuple[slice, ...]:
    ends = [int(end) for end in np.cumsum(widths)]
    return tuple(slice(end - width, end) for end, width in zip(ends, widths, strict=True))
