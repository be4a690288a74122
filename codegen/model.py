"""The frozen model of a robot: a tree of nodes (clusters of one or more bodies), frames and contacts.

Bodies are numbered parents before children and depth first; -1 is the world. Node and coordinate order
follow the bodies. A body's frame is its joint's moving frame: pose in the parent body =
`placement` then the joint's motion. Gravity is the acceleration of free fall in world axes (m/s^2).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from codegen.errors import RobotError
from codegen.geometry import ZERO, Inertia, Pose, Vec3, clean, mat3, vec3
from codegen.joints import JOINTS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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
class Contact:
    """Rows of the acceleration of a frame that a constraint holds; `codegen.contacts` says how users state them.

    `rows` is m x 6, acting on [angular; linear] acceleration along `axes`: the frame's own (""), "world", or those of
    another frame. `points` (m, in the frame's own axes) are where each row takes the linear part; none: all at the
    frame's origin. `kp` and `kd` are gains on errors of position and velocity (m each, or none). With `spatial`, the
    linear part is that of the spatial acceleration, otherwise the classical one.
    """

    frame: Frame
    rows: tuple[tuple[float, ...], ...]
    points: tuple[Vec3, ...] = ()
    axes: str = ""
    kp: tuple[float, ...] = ()
    kd: tuple[float, ...] = ()
    spatial: bool = False

    def __str__(self) -> str:
        from codegen.contacts import text_of  # built on this module

        return text_of(self)

    @property
    def parts(self) -> tuple[tuple[Vec3, slice], ...]:
        """The points, each with its run of rows."""
        points = self.points or (ZERO,) * len(self.rows)
        starts = [n for n, point in enumerate(points) if n == 0 or point != points[n - 1]]
        ends = [*starts[1:], len(points)]
        return tuple((points[start], slice(start, end)) for start, end in zip(starts, ends, strict=True))

    @property
    def turns(self) -> bool:
        """Whether it matters how the frame is turned: some row is angular, or takes another point than the origin."""
        return any(map(any, self.points)) or any(any(row[:3]) for row in self.rows)


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
            f"<Model {self.name}: {base} base, {len(self.bodies)} bodies, nq {self.nq}, nv {self.nv}"
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
        return any(body.joint.type == "floating" and body.parent < 0 for body in self.bodies)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the order of the coordinates."""
        return tuple(body.joint.name for body in self.bodies)

    @property
    def joints(self) -> tuple[JointType, ...]:
        """The mathematics of every joint, in the order of the bodies."""
        return tuple(body.joint.kinematics(self.convention) for body in self.bodies)

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
        raise RobotError(f"{self.name}: there is no frame {name!r}; `rigidc info {self.name}` lists the frames")

    def contact(
        self,
        frame: str,
        rows: int | str | Sequence[Sequence[float]] = 6,
        *,
        axis: Sequence[float] = (),
        points: Sequence[Sequence[float]] = (),
        axes: str = "",
        kp: float | Sequence[float] = 0.0,
        kd: float | Sequence[float] = 0.0,
        spatial: bool = False,
    ) -> Contact:
        """A contact on a frame: 3 (its origin), 6 (all), `hinge-x`, `foot-0.2x0.1`, rows such as `x,y,rz`, or m x 6.

        A matrix acts on [angular; classical linear] acceleration (of the spatial one with `spatial`), along the frame's
        own axes, the world's (`axes="world"`) or those of another frame. So does `hinge`, which leaves turns about
        `axis` free. `points` (n x 3, in the frame's own axes) hold these rows each; a foot holds its four corners, of a
        length along x and a width along y. `kp` and `kd` are gains of all rows or of each: the rows' k becomes
        k - kp error - kd (rate of it). RobotError if it does not fit.
        """
        from codegen.contacts import stated  # built on this module

        return stated(self, frame, rows, axis=axis, points=points, axes=axes, kp=kp, kd=kd, spatial=spatial)

    def with_frame(
        self, name: str, on: str, xyz: Sequence[float] = (0.0, 0.0, 0.0), rpy: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> Model:
        """This robot with one more named frame: `xyz` (m) away from frame `on`, in its axes, turned by `rpy` (rad).

        The turns are about the fixed x, y and z axes, in this order, as in URDF. RobotError if the name is taken.
        """
        from codegen.description.rotations import from_rpy  # the description layer is built on this module

        if not name or not name.isprintable() or name in {frame.name for frame in self.frames}:
            raise RobotError(f"{self.name}: a frame cannot be called {name!r}; choose a new printable name")
        if not np.isfinite([*xyz, *rpy]).all() or (len(xyz), len(rpy)) != (3, 3):
            raise RobotError(f"{self.name}: frame {name!r}: xyz and rpy must be three finite numbers each")
        base = self.frame(on)
        placement = base.placement @ Pose(mat3(clean(np.array(from_rpy(*rpy)))), vec3(xyz))
        return replace(self, frames=(*self.frames, Frame(name, base.body, placement)))

    def with_loop(
        self,
        name: str,
        *,
        explicit: Mapping[str, Any] | None = None,
        implicit: Sequence[Any] = (),
        independent: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
        scale: Sequence[float] = (),
    ) -> Model:
        """This robot with one more constraint between joints that have one coordinate each.

        `explicit` maps dependent joints to formulas of other joints; `implicit` lists formulas that stay zero, and
        `independent` the joints that are driven then (chosen if left out). A formula is a text such as
        "6*motor + 0.1", a SymPy expression or a CasADi SX. Its variables are the joints' names, or what `variables`
        maps to these. `scale` has one factor per independent joint, from v to the joint's rate. Bodies that the
        constraint ties form one cluster, which may change the order of the coordinates. RobotError if it does not fit.
        """
        from codegen.description.adding import with_loop  # the description layer is built on this module

        return with_loop(
            self,
            name,
            explicit=explicit,
            implicit=implicit,
            independent=independent,
            variables=variables,
            scale=scale,
        )

    def lock(
        self, joints: Mapping[str, float | Sequence[float] | None] | Sequence[str], q: ArrayLike | None = None
    ) -> Model:
        """This robot with some joints locked: at their positions (rad, m; as in q), or at those of q (nq; neutral).

        Locked bodies become part of those that carry them: inertias are merged, frames kept, armature is gone. What
        follows locked joints is locked too, and what one other joint leads takes this along. The others keep their
        names, by which the slices of the whole robot say where they stand in its q and v. RobotError if a loop forbids
        it, or is left without freedom (all joints of an implicit loop may be locked where they close it).
        """
        from codegen.description.locking import lock  # the description layer is built on this module

        return lock(self, joints, q)

    def lock_all_but(self, *joints: str, q: ArrayLike | None = None) -> Model:
        """This robot with all joints locked but these and those that follow them, at q (nq, neutral by default).

        A floating base is a joint like others: name it to keep it. See `lock`.
        """
        from codegen.description.locking import lock_all_but  # the description layer is built on this module

        return lock_all_but(self, joints, q)

    def subtree(self, at: str, base: Literal["fixed", "floating"] = "fixed") -> Model:
        """The robot that hangs on a link (any frame), which is the new world or floats; or, of a joint's name, this one
        and what hangs on it, the joint's frame being the new world.

        Frames and loops inside are kept; gravity is what it is, in the new world's axes. RobotError for loops that
        reach outside, and unknown names (a frame goes before a joint of the same name).
        """
        from codegen.description.subtree import subtree  # the description layer is built on this module

        return subtree(self, at, base)

    def neutral(self) -> NDArray[np.float64]:
        """The configuration with every coordinate zero and every quaternion one, loops closed from there: q (nq)."""
        q, joints = np.zeros(self.nq), self.joints
        for b, place in enumerate(self.q_slices):
            if place.stop > place.start:
                q[place] = joints[b].neutral()
        return self._closed(q, None)

    def random(
        self, rng: np.random.Generator | int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """A valid random state: q (nq) within the joint limits, v and tau (nv) of order one."""
        rng = np.random.default_rng(rng)
        q, joints = np.zeros(self.nq), self.joints
        for b, (body, place) in enumerate(zip(self.bodies, self.q_slices, strict=True)):
            if place.stop > place.start:
                q[place] = joints[b].random(rng, body.joint.lower, body.joint.upper)
        return self._closed(q, rng), rng.standard_normal(self.nv), rng.standard_normal(self.nv)

    def _closed(self, q: NDArray[np.float64], rng: np.random.Generator | None) -> NDArray[np.float64]:
        """q with the coordinates of implicit loops replaced by ones that close them: random, or neutral."""
        if all(loop.explicit for loop in self.loops):
            return q
        from codegen.closing import closed_positions  # needed by few robots only, and built on this module

        for places, x in closed_positions(self, rng):
            q[places] = x
        return q


def _slices(widths: Sequence[int]) -> tuple[slice, ...]:
    ends = [int(end) for end in np.cumsum(widths)]
    return tuple(slice(end - width, end) for end, width in zip(ends, widths, strict=True))
