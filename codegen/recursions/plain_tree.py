"""The tree as papers write it: transforms, subspaces and inertias as matrices, multiplied as they stand.

Featherstone, Rigid Body Dynamics Algorithms, ch. 4 to 7, and spatial_v2, his program; over clusters, Chignoli et al.
(arXiv 2311.13732), sec. IV. The only zeros are those that SX finds, and symmetric results are computed once. Spatial
vectors [angular; linear] in body frames; gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from casadi import SX, cross, diagcat, horzcat, is_equal, vertcat

from codegen.recursions.tree import Tree, opened
from codegen.spatial import skew3, zeros

SAME = 3  # depth to which expressions are compared


@dataclass(frozen=True, slots=True)
class HeldNode:
    """A node that carries so many contacts: the numbers of their rows, and K (m_i x 6 k)."""

    node: int
    contacts: int
    rows: list[int]
    K: SX


@dataclass(frozen=True, slots=True)
class PlainTree:
    """X[i] (from the parent), S[i], I[i] of every node i, over all its bodies, and the nodes that contacts hold.

    `bodies` are the transforms of single bodies, each from the one that carries it.
    """

    tree: Tree
    parent: tuple[int, ...]
    bodies: tuple[SX, ...]
    X: tuple[SX, ...]
    S: tuple[SX, ...]
    I: tuple[SX, ...]
    armature: tuple[SX, ...]
    held: tuple[HeldNode, ...]

    def __str__(self) -> str:
        return f"{self.tree!r}, as matrices"

    @classmethod
    def of(cls, tree: Tree) -> PlainTree:
        """The matrices of a tree."""
        bodies = tuple(part.X @ SX.eye(6) for part in tree.parts)
        return cls(
            tree,
            tree.parent,
            bodies,
            tuple(_transform(tree, bodies, i) for i in tree.outwards),
            tuple(_subspace(tree, bodies, i) for i in tree.outwards),
            tuple(diagcat(*[_inertia(tree, b) for b in node.bodies]) for node in tree.model.nodes),
            tree.armature,
            tuple(_held(tree, i) for i in dict.fromkeys(contact.node for contact in tree.contacts)),
        )

    @property
    def outwards(self) -> range:
        """Node numbers, parents before children."""
        return self.tree.outwards

    @property
    def inwards(self) -> range:
        """Node numbers, children before parents."""
        return self.tree.inwards

    @property
    def spanning(self) -> PlainTree:
        """The same with all loops opened: every body is a node of its own."""
        return PlainTree.of(opened(self.tree))

    @property
    def a0(self) -> SX:
        """The world's acceleration (6): gravity, upwards."""
        return vertcat(zeros(3), -self.tree.gravity)

    def path(self, i: int) -> tuple[int, ...]:
        """Node i and its ancestors, from i to the root."""
        return self.tree.path(i)

    def joint_forces(self, v: SX, tau: SX) -> dict[int, SX]:
        """tau by nodes, less what armatures need at joint velocity v where loops move joints by changing ratios."""
        rest = self.tree.armature_forces(v, zeros(self.tree.nv))
        return {i: tau_i - rest[i] for i, tau_i in enumerate(self.tree.split(tau))}

    def stack(self, by_body: Sequence[SX]) -> list[SX]:
        """Spatial vectors of the bodies, stacked by nodes."""
        return self.tree.stack(by_body)[:-1]


@dataclass(frozen=True, slots=True)
class PlainMotion:
    """Spatial velocities v, and accelerations c of velocity products at standing carriers, by nodes."""

    v: tuple[SX, ...]
    c: tuple[SX, ...]


def crm(v: SX) -> SX:
    """v x (6 x 6), which acts on motions."""
    w = skew3(v[:3])
    return vertcat(horzcat(w, zeros(3, 3)), horzcat(skew3(v[3:]), w))


def motion(robot: PlainTree, v: SX) -> PlainMotion:
    """Velocities and velocity products at joint velocity v."""
    tree = robot.tree
    rates, still = tree.rates(v), tree.accelerations(v, zeros(tree.nv))
    velocity, c = {-1: zeros(6)}, dict[int, SX]()
    # root to leaves, body by body
    for b, part in enumerate(tree.parts):
        vJ = part.S @ rates[b]
        velocity[b] = robot.bodies[b] @ velocity[part.parent] + vJ
        c[b] = crm(velocity[b]) @ vJ + part.S @ still[b] + _apparent(tree, b, rates[b])
        if part.parent >= 0 and tree.parts[part.parent].node == part.node:
            c[b] += robot.bodies[b] @ c[part.parent]
    every = range(len(tree.parts))
    return PlainMotion(*(tuple(robot.stack([x[b] for b in every])) for x in (velocity, c)))


def bias_forces(robot: PlainTree, v: Sequence[SX], f_ext: SX) -> list[SX]:
    """p = v x* I v less external forces, by nodes."""
    external = robot.stack(robot.tree.wrenches(f_ext))
    return [_crf(v[i], robot.I[i] @ v[i]) - external[i] for i in robot.outwards]


def wanted(robot: PlainTree, v: Sequence[SX], k: SX) -> SX:
    """k (m) less velocity products that contacts' frames see, and with gravity: what K a has to be.

    Rows state classical accelerations; a are spatial ones, which carry gravity.
    """
    tree, fall, rows = robot.tree, {-1: -robot.a0}, list[SX]()
    # root to contacts: the acceleration of free fall
    for i in tree.support:
        fall[i] = robot.X[i] @ fall[robot.parent[i]]
    for contact in tree.contacts:
        place = tree.model.nodes[contact.node].bodies.index(contact.body)
        at = contact.on_body.axes @ v[contact.node][6 * place : 6 * place + 6]
        turning = vertcat(zeros(3), cross(at[:3], at[3:]))
        rows.append(k[contact.rows] - contact.on_body.K @ turning - contact.force.T @ fall[contact.node])
    return vertcat(*rows) if rows else zeros(0)


def missing(robot: PlainTree, at: PlainMotion, k: SX) -> SX:
    """What contacts' rows (m) lack at zero joint accelerations: J a has to be that."""
    resting, s = {-1: robot.a0}, wanted(robot, at.v, k)
    # root to contacts
    for i in robot.tree.support:
        resting[i] = robot.X[i] @ resting[robot.parent[i]] + at.c[i]
    return s - seen(robot, resting)


def seen(robot: PlainTree, a: Mapping[int, SX]) -> SX:
    """K a over all rows (m)."""
    rows = zeros(robot.tree.m)
    for link in robot.held:
        rows[link.rows] = link.K @ a[link.node]
    return rows


def pushed(robot: PlainTree, p: Mapping[int, SX], lam: SX) -> dict[int, SX]:
    """Bias forces p, by nodes, with the contacts' forces K' lam taken off."""
    p = dict(p)
    for link in robot.held:
        p[link.node] -= link.K.T @ lam[link.rows]
    return p


def _held(tree: Tree, i: int) -> HeldNode:
    """The rows of all contacts on node i."""
    own = [contact for contact in tree.contacts if contact.node == i]
    rows = [row for contact in own for row in range(tree.m)[contact.rows]]
    return HeldNode(i, len(own), rows, vertcat(*[contact.force.T for contact in own]))


def _crf(v: SX, f: SX) -> SX:
    """v x* f, body by body."""
    parts = ((v[r : r + 6], f[r : r + 6]) for r in range(0, v.size1(), 6))
    return vertcat(*[-crm(v_b).T @ f_b for v_b, f_b in parts])


def _apparent(tree: Tree, b: int, v: SX) -> SX:
    """The rate of a body's joint subspace in the body's frame, times v: none for most joints."""
    part = tree.parts[b]
    vJ, drift = part.S @ v, part.joint.drift(part.q, v)
    turning = cross(vJ[:3], vJ[3:])
    return zeros(6) if is_equal(drift, turning, SAME) else vertcat(zeros(3), drift - turning)


def _transform(tree: Tree, bodies: Sequence[SX], i: int) -> SX:
    """X of node i (6 k x 6 k of its parent)."""
    X, rows = tree.X[i], list[SX]()
    hub = horzcat(zeros(6, 6 * X.hub), SX.eye(6), zeros(6, 6 * (X.parents - X.hub - 1)))
    for b, (inner, _) in zip(tree.model.nodes[i].bodies, X.links, strict=True):
        rows.append(bodies[b] @ (hub if inner < 0 else rows[inner]))
    return vertcat(*rows)


def _subspace(tree: Tree, bodies: Sequence[SX], i: int) -> SX:
    """S of node i (6 k x n)."""
    rows = list[SX]()
    for b, (inner, _) in zip(tree.model.nodes[i].bodies, tree.X[i].links, strict=True):
        own = tree.parts[b].S @ tree.rates_of(b)
        rows.append(own if inner < 0 else bodies[b] @ rows[inner] + own)
    return vertcat(*rows)


def _inertia(tree: Tree, b: int) -> SX:
    """The inertia of a body (6 x 6)."""
    A = tree.parts[b].I.articulated()
    return vertcat(horzcat(A.I, A.H), horzcat(A.H.T, A.M))
