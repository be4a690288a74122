"""Elimination of joints whose motion a contact determines, and the back substitution of what follows.

An eliminated link (`codegen.elimination.links`) becomes a part of its carrier, whose joint the rows that are left may
determine in turn. Other links that hang on it are eliminated by ABA first. Back substitution gives the accelerations
of eliminated joints from those of their carriers, and the multipliers of their contacts from the force that the links
lack. Spatial vectors [angular; linear] in body frames, accelerations measured from the bias motion, of which gravity
is part.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from casadi import SX, trace, vertcat, vertsplit

from codegen.elimination.links import EliminatedLink
from codegen.recursions.reduced_problem import Nodes, ReducedProblem, Solution
from codegen.recursions.sweeps import Articulated, acceleration_sweep
from codegen.recursions.tree import ContactRows, LoweredContact, Tree
from codegen.spatial import (
    ArticulatedInertia,
    NodeInertia,
    NodeTransform,
    Subspace,
    Transform,
    articulated_joint,
    zeros,
)


def eliminate(
    tree: Tree,
    p: Sequence[SX],
    tau: Mapping[int, SX],
    s: SX,
    detect: Callable[[Tree], Mapping[int, EliminatedLink]],
    mu: SX | None = None,
) -> ReducedProblem:
    """The problem without the links that `detect` finds, by contacts, until it finds none.

    With `mu`, rows that are left are going to be held by this stiffness.
    """
    links = detect(tree)
    if not links:
        return ReducedProblem(tree, list(p), dict(tau), s, lambda y, a, lam: (y, a, lam), lambda lam: lam)
    X, parent, arm = tree.X, tree.parent, tree.armature
    beyond = sorted({i for link in links.values() for i in tree.outwards if link.held.node in tree.path(i)[1:]})
    joint, u, IA, p = _inward_sweep(tree, p, tau, reversed(beyond))
    I, prescribed = list(tree.I), {}
    # eliminated links to their carriers, which feel them as a part of themselves
    for link in links.values():
        i, A = link.held.node, IA[link.held.node].parts[0].articulated()
        prescribed[i] = link.prescribed_acceleration(s[link.held.rows])
        rotor = ArticulatedInertia.of(link.B @ arm[i] @ link.B.T)
        stiffness = ArticulatedInertia.none() if mu is None else link.stiffness(mu)
        place = tree.model.nodes[parent[i]].bodies.index(link.part.parent)
        I[parent[i]] = I[parent[i]].stiffened(place, link.part.X.inertia(link.inertia(A) + rotor + stiffness))
        p[parent[i]] += X[i].force(link.force(p[i] + A @ prescribed[i], tau[i] - arm[i] @ (link.B.T @ prescribed[i])))
    contacts = list(enumerate(tree.contacts))
    lack = [links[e].reduced_rhs(s[c.rows]) if e in links else s[c.rows] for e, c in contacts]
    still = {i: zeros(0) for i in (*prescribed, *beyond)}
    left = remainder(tree, {e: _left(tree, link, IA, mu is not None) for e, link in links.items()}, still, I)
    rest = eliminate(left, p, {**tau, **still}, vertcat(zeros(0), *lack), detect, mu)

    # carriers to eliminated links: accelerations, and the multipliers that make up for what these lack
    def back_substitute(y: Nodes, a: Nodes, lam: SX) -> Solution:
        y, a, pushed = rest.back_substitute(y, a, lam)
        lam_e = vertsplit(pushed, [0, *accumulate(part.size1() for part in lack)])
        for e, link in links.items():
            i = link.held.node
            reached = X[i] @ a[parent[i]]
            y[i] = link.B.T @ (prescribed[i] - reached)
            a[i] = reached + tree.S[i] @ y[i]
            lacking = IA[i].parts[0] @ a[i] + p[i] - link.B @ (tau[i] - arm[i] @ y[i])
            lam_e[e] = link.multipliers(lacking, lam_e[e])
        y_beyond, a_beyond = acceleration_sweep(tree, joint, u, beyond, a)
        return {**y, **y_beyond}, {**a, **a_beyond}, vertcat(zeros(0), *lam_e)

    def reduced_multipliers(lam: SX) -> SX:
        parts = [links[e].reduced_multipliers(lam[c.rows]) if e in links else lam[c.rows] for e, c in contacts]
        return rest.reduced_multipliers(vertcat(zeros(0), *parts))

    return replace(rest, back_substitute=back_substitute, reduced_multipliers=reduced_multipliers)


def remainder(tree: Tree, left: Mapping[int, LoweredContact], gone: Collection[int], I: Sequence[NodeInertia]) -> Tree:
    """The tree with inertias I, and some contacts with the rows that are left of them.

    Nodes that are gone keep their numbers, but hang on the world and move no more: sweeps over them come to nothing.
    """
    contacts, end = [], 0
    for contact in (left.get(e, contact) for e, contact in enumerate(tree.contacts)):
        start, end = end, end + contact.force.size2()
        if end > start:
            contacts.append(replace(contact, rows=slice(start, end)))
    roots = [tree.contacts[e].node for e in left]
    X = [NodeTransform(0, 1, x.links) if i in roots else x for i, x in enumerate(tree.X)]
    S = [
        Subspace(x, s.joints, s.G[:, :0] if i in gone else s.G) for i, (x, s) in enumerate(zip(X, tree.S, strict=True))
    ]
    return replace(
        tree,
        parent=tuple(-1 if i in roots else parent for i, parent in enumerate(tree.parent)),
        X=tuple(X),
        S=tuple(S),
        I=tuple(I),
        armature=tuple(zeros(0, 0) if i in gone else arm for i, arm in enumerate(tree.armature)),
        contacts=tuple(contacts),
    )


def _inward_sweep(
    tree: Tree, p: Sequence[SX], tau: Mapping[int, SX], nodes: Iterable[int]
) -> tuple[Articulated, Nodes, list[NodeInertia], list[SX]]:
    """ABA's inward sweep over `nodes` (children first): their joints and u = tau - S' pA, and all nodes' IA and pA."""
    joint, u, IA, p = {}, {}, [I.articulated() for I in tree.I], list(p)
    # leaves to root: articulated inertia and bias force of the subtree that hangs on each joint
    for i in nodes:
        joint[i] = articulated_joint(IA[i], tree.S[i], tree.armature[i])
        u[i] = tau[i] - tree.S[i].T @ p[i]
        IA[tree.parent[i]] += tree.X[i].inertia(joint[i].projected_inertia(IA[i]))
        p[tree.parent[i]] += tree.X[i].force(joint[i].projected_force(p[i], joint[i].D.solve(u[i]), tau[i]))
    return joint, u, IA, p


def _left(tree: Tree, link: EliminatedLink, IA: Sequence[NodeInertia], stiffened: bool) -> LoweredContact:
    """The rows that are left of an eliminated link's contact, on the body that carries the link."""
    force, b, i = link.rows, link.part.parent, link.held.node
    node, D = tree.parent[i], articulated_joint(IA[i], tree.S[i], tree.armature[i]).D
    return replace(
        link.held,
        body=b,
        node=node,
        force=vertcat(*[force if other == b else zeros(6, force.size2()) for other in tree.model.nodes[node].bodies]),
        on_body=ContactRows(force.T, zeros(3), Transform(()), force, force @ force.T),
        stated=replace(link.held.stated, own=SX.eye(3), turn=None),
        # what the rows gave way to already: pivots of those that are left vanish beside this, too
        yields=link.held.yields + trace(link.Y.T @ D.solve(link.Y)),
        stiff=stiffened and link.stiff,
    )
