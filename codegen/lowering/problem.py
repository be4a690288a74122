"""What is lowered: a robot and an algorithm's arguments, on their way to the tree that the algorithm runs on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from casadi import SX, vertcat

if TYPE_CHECKING:
    from codegen.joints import JointType
    from codegen.kinematic_loops.constraints import Spanning
    from codegen.lowering.reframed_base import ReframedBase
    from codegen.model import Contact, Model
    from codegen.model.canonical_frames import Canonical
    from codegen.recursions.tree import Tree
    from codegen.spatial import AxisRotation, RigidInertia, Transform

Swept = Literal["forces", "inertias", "both"]
"""What the sweeps of an algorithm carry beside motions."""

ContactModel = Literal["", "exactly", "in steps", "softly"]
"""How an algorithm of constrained dynamics holds its contacts, which may determine joints unless they are soft."""

Rotors = Literal["bodies", "armature", "left out"]
"""What bodies are to an algorithm that gears and differentials drive: bodies, armature of what drives them, nothing."""

ContactTraffic = Literal["forces", "joints", "pairs", "branches"]
"""What an algorithm does on the ways from contacts to the base: it carries unit forces; does the same for each joint
or pair of joints; or it wants the joints on every branch of the base to follow the contacts there."""

Change = Callable[[SX], SX]


@dataclass(frozen=True, slots=True)
class Needs:
    """What an algorithm declares of itself, so that steps know what they may change without notice.

    `closes` says that it finds positions that close loops, for which there may be closed forms. `held` says that it
    solves the problem of constrained dynamics (`codegen.lowering.reduced_problem`), and how; `stiffened` that it holds
    rows by a stiffness mu of the bodies.
    `rotors` says what bodies are to it that loops drive. With `joint_space` it factorises the joint-space inertia
    matrix, and with `by_columns` it may be loops over columns (`codegen.lowering.column_loops`), those of C with
    `small_vectors` if it has such. It may be given
    another frame of a floating base (`base_frame`), another link as the base (`base_link`), units of length for every
    body (`length_units`), and rows of contacts along axes that do not move against the bodies (`contact_axes`).
    """

    swept: Swept = "inertias"
    held: ContactModel = ""
    stiffened: bool = False
    contact_traffic: ContactTraffic = "forces"
    joint_space: bool = False
    base_frame: bool = False
    base_link: bool = False
    length_units: bool = False
    contact_axes: bool = False
    rotors: Rotors = "bodies"
    closes: bool = False
    by_columns: bool = False
    small_vectors: bool = False


class LinkAxes(NamedTuple):
    """A body along chosen axes: the transform from its parent, its inertia, and of a held tip the turn to its own."""

    X: Transform
    inertia: RigidInertia
    inner: AxisRotation | None = None


def coordinates_of(view: Model, model: Model, q: SX) -> SX:
    """The configuration of a view of a model, which has some of its joints, from the model's own."""
    place = {body.joint.name: part for body, part in zip(model.bodies, model.q_slices, strict=True)}
    return vertcat(*[q[place[body.joint.name]] for body in view.bodies])


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a robot: what the algorithm needs, frames by name, and symbols in the place of numbers.

    `frames` are those of the results, `external` those of external forces; `numbers` are symbols by parameters.
    """

    needs: Needs
    frames: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    numbers: Mapping[str, SX] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bodies:
    """What steps found about bodies: `bases` are joints in the place of floating ones, `reframed` is the model in
    canonical frames.

    By the latter's bodies: `joints`, symbolic `offsets`, `inertias` (the world's last) and `links`; by its nodes:
    `spanning`.
    """

    bases: Mapping[int, ReframedBase] = field(default_factory=dict)
    reframed: Canonical | None = None
    joints: tuple[JointType, ...] = ()
    offsets: tuple[SX | None, ...] = ()
    spanning: tuple[Spanning, ...] = ()
    inertias: tuple[RigidInertia, ...] = ()
    links: tuple[LinkAxes, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """A robot, its configuration q and the other arguments by name, all SX; and what steps have found so far.

    `aside` are the contacts whose rows may stay along axes of their own, None if all rows are along the axes that
    contacts name. `solved` makes accelerations and multipliers of the solution of constrained dynamics. `restores`
    turn results, by names, into those of the robot that the user stated; the last one goes first. With
    `by_columns` the algorithm is to be loops over columns.
    """

    request: Request
    model: Model
    q: SX
    arguments: Mapping[str, Any] = field(default_factory=dict)
    contacts: tuple[Contact, ...] = ()
    bodies: Bodies = field(default_factory=Bodies)
    aside: tuple[Contact, ...] | None = None
    tree: Tree | None = None
    solved: Callable[[Any], tuple[SX, SX]] | None = None
    restores: tuple[Mapping[str, Change], ...] = ()
    by_columns: bool = False

    def __str__(self) -> str:
        return f"{self.model.name}, lowered to {self.tree or self.model}"

    def of(self, model: Model) -> Problem:
        """The same of a robot with these joints, or some of them."""
        return replace(self, model=model, q=coordinates_of(model, self.model, self.q))

    def found(self, **by_bodies: Any) -> Problem:
        """The same with more known about its bodies."""
        return replace(self, bodies=replace(self.bodies, **by_bodies))

    @property
    def canonical(self) -> Canonical:
        """The model in canonical frames."""
        assert self.bodies.reframed is not None, "canonical frames come first"
        return self.bodies.reframed

    @property
    def built(self) -> Tree:
        """The tree."""
        assert self.tree is not None, "build_tree comes first"
        return self.tree

    @property
    def positions(self) -> dict[int, SX]:
        """The positions of all joints, by bodies."""
        pairs = zip(self.canonical.model.nodes, self.bodies.spanning, strict=True)
        return {b: at for node, own in pairs for b, at in zip(node.bodies, own.positions, strict=True)}
