"""EFPA, the extended-force-propagator algorithm: the inverse operational-space inertia (Delassus) matrix.

Wensing, Featherstone, Orin, A reduced-order recursive algorithm for the computation of the operational-space inertia
matrix, ICRA 2012; over clusters, Chignoli et al. (arXiv 2311.13732), sec. VIII: O(n + m d + m^2). Accelerations go
outwards only to where paths part; the joint where two contacts meet, those that a contact moves alone, and where they
meet near the root the few further in, add y' D^-1 y. Spatial vectors [angular; linear] in body frames; gravity plays
no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.delassus import assembled
from codegen.recursions.sweeps import inertia_sweep
from codegen.recursions.tree import Tree
from codegen.spatial import zeros

NEAR = 12  # freedoms between a meeting and the root: accelerations on the way there and back cost more than y' D^-1 y


def efpa(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    S, X, parent, joint = tree.S, tree.X, tree.parent, inertia_sweep(tree, tree.I)
    F, A, half, scaled, blocks = {}, {}, {}, {}, {}
    # contacts to root: unit contact forces, as each joint feels them, and then the parent of its node
    for e, contact in enumerate(tree.contacts):
        felt = contact.force
        for i in tree.path(contact.node):
            half[e, i] = joint[i].D.forward(S[i].T @ felt)
            scaled[e, i] = joint[i].D.scale(half[e, i])
            felt = F[e, parent[i]] = X[i].force(joint[i].projected_force(felt, -joint[i].D.backward(scaled[e, i])))
    for e, contact in enumerate(tree.contacts):
        path, others = tree.path(contact.node), [other for other in tree.contacts if other is not contact]
        shared = [i for i in path if any(i in tree.path(other.node) for other in others)] or path[-1:]
        A[e, -1] = zeros(6, contact.size)
        # root to where paths part: the accelerations that they cause
        for i in reversed(shared[1:]):
            _, A[e, i] = joint[i].motion(X[i] @ A[e, parent[i]], S[i].T @ F[e, i])
        # pairs of contacts meet beyond the parent of their closest common ancestor
        for o, other in enumerate(tree.contacts[: e + 1]):
            meeting = shared[0] if o == e else tree.closest(other.node, contact.node)
            alone = path[: path.index(meeting)] if o == e else ()
            further = tree.path(parent[meeting]) if meeting >= 0 else ()
            near = sum(S[i].size for i in further) <= NEAR
            both = [half[o, i].T @ scaled[e, i] for i in (*alone, meeting, *(further if near else ())) if i >= 0]
            blocks[o, e] = both if near else [F[o, parent[meeting]].T @ A[e, parent[meeting]], *both]
    return assembled(tree, blocks)
