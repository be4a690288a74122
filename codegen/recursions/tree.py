"""The model at a symbolic configuration: what the recursions of the algorithms run over.

Nodes and bodies are numbered parents before children. The world is number -1, so that arrays kept by the
algorithms carry one element more, for the world, at their end, and no recursion asks whether it has arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

import numpy as np
from casadi import SX, diag, diagcat, is_equal, trace, vertcat, vertsplit

from codegen.geometry import Pose
from codegen.joints import JointType
from codegen.kinematic_loops.constraints import Spanning, free
from codegen.model import Frame, Model
from codegen.spatial import (
    ArticulatedInertia,
    NodeInertia,
    NodeTransform,
    RigidInertia,
    Subspace,
    Transform,
    constant,
    diagonal,
    placement_steps,
    skew3,
    unit_axes,
    zeros,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One body over SX: carrying body, own node, joint, positions, transform, subspace, inertia.

    `stated` is where the frame that the user knows is in the body's own.
    """

    parent: int
    node: int
    joint: JointType
    q: SX
    X: Transform
    S: SX
    I: RigidInertia
    stated: Pose


@dataclass(frozen=True, slots=True)
class ContactRows:
    """Rows of a contact at one point of a body: K (m x 6) acts on motions [angular; linear] at `origin` along `axes`.

    `force` are unit forces of the rows on the body (6 x m), along the axes that it is swept along; `square` is force
    force', along the body's own axes. `inertia` measures lengths by `unit` (m).
    """

    K: SX
    origin: SX
    axes: Transform
    force: SX
    square: SX
    unit: float = 1.0

    def inertia(self, weight: SX) -> RigidInertia | ArticulatedInertia:
        """K' weight K for one weight or a diagonal of them (m): what a stiff contact adds to its body's inertia."""
        added = self._inertia(weight)
        return added if self.unit == 1.0 else added.measured(1 / self.unit)

    def _inertia(self, weight: SX) -> RigidInertia | ArticulatedInertia:
        """The same in metres.

        A point that is held wholly adds a mass there, and a weld one that resists turns, too.
        """
        if all(is_equal(weight[n], weight[0], 1) for n in range(weight.size1())) and self.K.size1() > 1:
            weight = weight[0]
            if not self.origin.is_constant():  # a whole point or frame on a tip that is swept along other axes
                resists, moves = (weight * (not part.is_zero()) for part in (self.K[:, :3], self.K[:, 3:]))
                h = moves * self.origin
                moment = diagonal(resists, 3) - skew3(h) @ skew3(self.origin)
                return RigidInertia(moves, h, moment, weight * trace(self.square[:3, :3]) / 2)
            rigid = RigidInertia.of(self.square)
            if rigid is not None:
                return rigid.times(weight)
            A = weight * self.square
        else:
            A = self.force @ diag(weight) @ self.force.T
        return ArticulatedInertia.of(A)


@dataclass(frozen=True, slots=True)
class StatedRows:
    """The rows of a contact as the user stated them: the contact's number, and the place of their point in its frame.

    `own` (3 x 3) leads from the frame's axes to those of the lowered rows. `turn` (m x m, orthogonal) leads from the
    lowered rows to the stated ones, where the axes of the latter move against these; else it is None. `spatial` rows
    want spatial accelerations, others classical ones.
    """

    contact: int
    point: SX
    own: SX
    turn: SX | None
    spatial: bool


@dataclass(frozen=True, slots=True)
class LoweredContact:
    """Rows of a contact at one point, over SX: its body and node, and its place among the rows of all contacts.

    `force` are unit forces of the rows on the node's bodies (6 k x m), `scale` the size of their numbers. `yields` is
    the compliance (its trace) along rows of the contact that are held already; `stiff` says that the inertias know the
    weight of its rows. With `friction`, forces are within a cone about the last row.
    """

    body: int
    node: int
    rows: slice
    force: SX
    on_body: ContactRows
    stated: StatedRows
    scale: float
    yields: SX = field(default_factory=lambda: SX(1, 1))
    stiff: bool = False
    friction: float | None = None

    @property
    def size(self) -> int:
        """Number of rows m of the contact."""
        return int(self.rows.stop - self.rows.start)


@dataclass(frozen=True, slots=True, repr=False)
class Tree:
    """A robot over SX symbols, in canonical frames.

    For node i: `parent[i]`, `X[i]` (motions of the parent, in the node's frames), `S[i]` (motion subspace),
    `I[i]` (rigid inertias; the last one rests on the world), `armature[i]` (n_i x n_i), `spanning[i]` (how its
    coordinates move its bodies' joints). `parts` are the bodies, for what goes body by body.
    """

    model: Model
    q: SX
    parts: tuple[Part, ...]
    parent: tuple[int, ...]
    X: tuple[NodeTransform, ...]
    S: tuple[Subspace, ...]
    spanning: tuple[Spanning, ...]
    I: tuple[NodeInertia, ...]
    armature: tuple[SX, ...]
    gravity: SX
    frames: tuple[Frame, ...] = field(default=())
    external: tuple[Frame, ...] = field(default=())
    contacts: tuple[LoweredContact, ...] = field(default=())

    def __repr__(self) -> str:
        return f"<Tree of {self.model.name}: {len(self)} nodes, {self.nv} degrees of freedom>"

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return sum(S.size for S in self.S)

    @property
    def dofs(self) -> tuple[slice, ...]:
        """The places of the nodes' joint velocities in v."""
        ends = list(accumulate((S.size for S in self.S), initial=0))
        return tuple(slice(*ends_i) for ends_i in pairwise(ends))

    @property
    def weightless(self) -> Tree:
        """The same without gravity."""
        return replace(self, gravity=zeros(3))

    @property
    def no_wrenches(self) -> SX:
        """External wrenches that vanish."""
        return zeros(len(self.external), 6)

    @property
    def support(self) -> tuple[int, ...]:
        """The nodes that carry a contact, directly or through others; parents before children."""
        return tuple(sorted({i for contact in self.contacts for i in self.path(contact.node)}))

    @property
    def m(self) -> int:
        """Rows of all contacts."""
        return sum(contact.size for contact in self.contacts)

    @property
    def G(self) -> SX:
        """Rates of all joints from joint velocities, body after body."""
        return diagcat(*[own.G for own in self.spanning])

    @property
    def K(self) -> SX:
        """The loop constraints on the rates of all joints: K qdot = 0."""
        return diagcat(*[own.full_K for own in self.spanning])

    @property
    def own(self) -> SX:
        """Joint velocities from the rates of all joints."""
        return diagcat(*[own.selection for own in self.spanning])

    @property
    def outwards(self) -> range:
        """Node numbers, parents before children."""
        return range(len(self))

    @property
    def inwards(self) -> range:
        """Node numbers, children before parents."""
        return range(len(self) - 1, -1, -1)

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows of the nodes' spatial vectors, and of the world's."""
        return (*(6 * len(node.bodies) for node in self.model.nodes), 6)

    @property
    def dof_parent(self) -> tuple[int, ...]:
        """For every degree of freedom the next one towards the root (-1: none); the book's lambda."""
        last = [dofs.stop - 1 for dofs in self.dofs] + [-1]
        return tuple(
            dof - 1 if dof > dofs.start else last[self.parent[i]]
            for i, dofs in enumerate(self.dofs)
            for dof in range(dofs.start, dofs.stop)
        )

    def path(self, i: int) -> tuple[int, ...]:
        """Node i and its ancestors, from i to the root."""
        nodes = []
        while i >= 0:
            nodes.append(i)
            i = self.parent[i]
        return tuple(nodes)

    def closest(self, i: int, j: int) -> int:
        """The closest common ancestor of two nodes (each counts as its own); -1 is the world."""
        path = self.path(i)
        return next((n for n in self.path(j) if n in path), -1)

    def meeting(self, i: int) -> bool:
        """Whether contacts of different branches meet at node i, or one is on it."""
        branches = {path[path.index(i) - 1] for path in map(self.path, self._held_nodes()) if i in path[1:]}
        return len(branches) > 1 or i in self._held_nodes()

    def _held_nodes(self) -> list[int]:
        return [contact.node for contact in self.contacts]

    def carriers(self, b: int) -> tuple[int, ...]:
        """Body b and the bodies that carry it, from b to the root."""
        carrying = []
        while b >= 0:
            carrying.append(b)
            b = self.parts[b].parent
        return tuple(carrying)

    def split(self, v: SX) -> tuple[SX, ...]:
        """A joint-space vector by nodes."""
        return tuple(vertsplit(v, [0, *(dofs.stop for dofs in self.dofs)])) if self.dofs else ()

    def join(self, by_node: Sequence[SX]) -> SX:
        """The rows of all nodes, in order."""
        return vertcat(*by_node)

    def positions(self, q: SX) -> tuple[SX, ...]:
        """A configuration by bodies; empty for a body whose position an explicit loop gives."""
        return tuple(q[part] for part in self.model.q_slices)

    def rates(self, v: SX) -> tuple[SX, ...]:
        """The joint velocity of every body."""
        return self._by_bodies([S.G @ v_i for S, v_i in zip(self.S, self.split(v), strict=True)])

    def accelerations(self, v: SX, vdot: SX) -> tuple[SX, ...]:
        """The joint acceleration of every body, at joint velocity v."""
        nodes = zip(self.spanning, self.split(v), self.split(vdot), strict=True)
        return self._by_bodies([own.G @ a_i + own.g(v_i) for own, v_i, a_i in nodes])

    def armature_forces(self, v: SX, vdot: SX) -> tuple[SX, ...]:
        """By nodes, the joint forces that armatures need at joint velocity v: G' A (G vdot + g), A those of all joints.

        Where loops move joints by ratios that change, g is their acceleration while joint velocities are constant.
        """
        forces = []
        for i, (own, v_i, a_i) in enumerate(zip(self.spanning, self.split(v), self.split(vdot), strict=True)):
            forces.append(self.armature[i] @ a_i)
            if self.armature[i].nnz():
                forces[i] += own.G.T @ (armatures(self.model, i) @ own.g(v_i))
        return tuple(forces)

    def rests(self, b: int) -> bool:
        """Whether the joint of body b gives its node's coordinates, and decides alone how b moves along some axes."""
        S, node = self.parts[b].S, self.parts[b].node
        first, own = self.model.nodes[node].bodies[0] == b, self.rates_of(b)
        along = sum(not S[r, :].is_zero() for r in range(6))
        return first and own.is_eye() and along == S.size2() and unit_axes(S) and not self.armature[node].nnz()

    def rates_of(self, b: int) -> SX:
        """The rows of G for body b: its joint velocity from those of its node."""
        node = self.model.nodes[self.parts[b].node]
        at = sum(self.parts[other].S.size2() for other in node.bodies[: node.bodies.index(b)])
        return self.S[self.parts[b].node].G[at : at + self.parts[b].S.size2(), :]

    def _by_bodies(self, spanning: Sequence[SX]) -> tuple[SX, ...]:
        split: dict[int, SX] = {}
        for node, values in zip(self.model.nodes, spanning, strict=True):
            at = 0
            for b in node.bodies:
                split[b] = values[at : at + self.parts[b].S.size2()]
                at += self.parts[b].S.size2()
        return tuple(split[b] for b in range(len(self.parts)))

    def stack(self, by_body: Sequence[SX]) -> list[SX]:
        """Spatial vectors of the bodies, stacked by nodes; the world's zero comes last."""
        return [*(vertcat(*[by_body[b] for b in node.bodies]) for node in self.model.nodes), zeros(6)]

    def wrenches(self, f_ext: SX) -> tuple[SX, ...]:
        """External wrenches (rows of f_ext, one per external frame), as spatial forces by bodies."""
        forces = [zeros(6) for _ in self.parts]
        for row, frame in enumerate(self.external):
            wrench = vertcat(f_ext[row, 3:].T, f_ext[row, :3].T)
            if frame.body >= 0:
                forces[frame.body] += Transform(placement_steps(frame.placement)).force(wrench)
        return tuple(forces)


def armatures(model: Model, i: int) -> SX:
    """The armatures of the joints of node i, on the diagonal of a matrix."""
    bodies = [model.bodies[b] for b in model.nodes[i].bodies]
    widths = [body.joint.kinematics(model.convention).nv for body in bodies]
    return constant(np.diag(np.repeat([body.joint.armature for body in bodies], widths)))


def opened(tree: Tree) -> Tree:
    """The spanning tree: the same bodies with all loops opened, each a node of its own with its joint's coordinates.

    Contacts hold the bodies that they are on.
    """
    parts = tuple(replace(part, node=b) for b, part in enumerate(tree.parts))
    X = tuple(NodeTransform(0, 1, ((-1, part.X),)) for part in parts)
    own = tuple(free(part.joint, part.q) for part in parts)
    single = tree.model.opened
    return replace(
        tree,
        model=single,
        parts=parts,
        parent=tuple(part.parent for part in parts),
        X=X,
        S=tuple(Subspace(x, (part.S,), s.G) for x, part, s in zip(X, parts, own, strict=True)),
        spanning=own,
        I=(*(NodeInertia((part.I,)) for part in parts), tree.I[-1]),
        armature=tuple(armatures(single, b) for b in range(len(parts))),
        contacts=tuple(replace(contact, node=contact.body, force=contact.on_body.force) for contact in tree.contacts),
    )
