"""The sweeps of the articulated-body recursion, one function each, as constrained dynamics uses them.

Featherstone, Rigid Body Dynamics Algorithms, sec. 7.3, homogeneous: everything is measured from a bias motion
(`codegen.recursions.motion`). Spatial vectors [angular; linear] in body frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from casadi import SX, vertcat

from codegen.recursions.tree import LoweredContact, Tree
from codegen.spatial import ArticulatedJoint, NodeInertia, articulated_joint, zeros

Articulated = Mapping[int, ArticulatedJoint]  # by nodes


def stiffened(tree: Tree, weight: SX) -> list[NodeInertia]:
    """Rigid inertias with K' weight K of every contact added (one weight, or m); the world's last."""
    IA = list(tree.I)
    for contact in (contact for contact in tree.contacts if not contact.stiff):
        place = tree.model.nodes[contact.node].bodies.index(contact.body)
        IA[contact.node] = IA[contact.node].stiffened(place, contact.on_body.inertia(weight_of(weight, contact)))
    return IA


def weight_of(weight: SX, contact: LoweredContact) -> SX:
    """A contact's part of a weight on all rows, or the one weight of all."""
    return weight if weight.size1() == 1 else weight[contact.rows]


def inertia_sweep(tree: Tree, IA: Sequence[NodeInertia]) -> Articulated:
    """The inertia sweep, from rigid inertias IA: every joint, free to move below its subtree."""
    IA, joint = [I.articulated() for I in IA], {}
    # leaves to root: articulated inertia of the subtree that hangs on each joint
    for i in tree.inwards:
        joint[i] = articulated_joint(IA[i], tree.S[i], tree.armature[i])
        IA[tree.parent[i]] += tree.X[i].inertia(joint[i].projected_inertia(IA[i]))
    return joint


def bias_force_sweep(
    tree: Tree, A: Articulated, p: Sequence[SX], tau: Mapping[int, SX], nodes: Iterable[int]
) -> dict[int, SX]:
    """The force sweep: u = tau - S' pA of `nodes` (children first), from bias forces p on the bodies."""
    p, u = list(p), {}
    # leaves to root: bias force of the subtree that hangs on each joint
    for i in nodes:
        u[i] = tau[i] - tree.S[i].T @ p[i]
        p[tree.parent[i]] += tree.X[i].force(A[i].projected_force(p[i], A[i].D.solve(u[i]), tau[i]))
    return u


def acceleration_sweep(
    tree: Tree, A: Articulated, u: Mapping[int, SX], nodes: Iterable[int], a: Mapping[int, SX] | None = None
) -> tuple[dict[int, SX], dict[int, SX]]:
    """The acceleration sweep over `nodes` (parents first): joint and spatial accelerations; `a` those known before."""
    y, a = {}, {-1: zeros(6), **(a or {})}
    # root to leaves: accelerations under the joint forces u
    for i in nodes:
        y[i], a[i] = A[i].motion(tree.X[i] @ a[tree.parent[i]], u[i])
    return y, a


def accelerated(
    tree: Tree, A: Articulated, u: Mapping[int, SX], pushed: Mapping[int, SX], known: Mapping[int, SX] | None = None
) -> tuple[dict[int, SX], dict[int, SX]]:
    """Joint and spatial accelerations under the joint forces u and what is `pushed`; those of roots may be known."""
    known = known or {}
    u = {i: u_i + pushed[i] if i in pushed else u_i for i, u_i in u.items()}
    others = [i for i in tree.outwards if i not in known]
    y, a = acceleration_sweep(tree, A, u, others, {i: tree.S[i] @ y_i for i, y_i in known.items()})
    return {**y, **known}, a


def joint_forces(tree: Tree, contact: LoweredContact, A: Articulated | None = None) -> dict[int, SX]:
    """S' K' of a contact (n_i x m) at every node of its path: joint forces of its unit multipliers.

    With A, joints yield on the way and a node feels what they transmit; without, they are locked.
    """
    felt, forces = contact.force, {}
    # contact to root
    for i in tree.path(contact.node):
        forces[i] = tree.S[i].T @ felt
        felt = tree.X[i].force(A[i].projected_force(felt, -A[i].D.solve(forces[i])) if A else felt)
    return forces


def carried(tree: Tree, A: Articulated, F: SX, start: int, end: int) -> SX:
    """Forces F on node `start` (6 k x c) as node `end`, itself or an ancestor, feels them through the free joints."""
    i = start
    while i != end:
        F = tree.X[i].force(A[i].projected_force(F, -A[i].D.solve(tree.S[i].T @ F)))
        i = tree.parent[i]
    return F


def add_contact_forces(tree: Tree, p: Sequence[SX], lam: SX) -> list[SX]:
    """Bias forces p less those that the multipliers lam (m) exert on the contacts' nodes."""
    p = list(p)
    for contact in tree.contacts:
        p[contact.node] -= contact.force @ lam[contact.rows]
    return p


def contact_accelerations(tree: Tree, a: Mapping[int, SX]) -> SX:
    """K a (m): what the contacts' rows see of the nodes' spatial accelerations."""
    rows = [contact.force.T @ a[contact.node] for contact in tree.contacts]
    return vertcat(*rows) if rows else zeros(0)
