"""EFPA, the extended-force-propagator algorithm: the inverse operational-space inertia (Delassus) matrix.

Wensing, Featherstone, Orin, A reduced-order recursive algorithm for the computation of the operational-space
inertia matrix, ICRA 2012; over clusters, Chignoli et al. (arXiv 2311.13732), sec. VIII: O(n + m d + m^2).
Spatial vectors [angular; linear] in body frames; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.delassus import assembled
from codegen.spatial import ldl, zeros
from codegen.tree import Tree


def efpa(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    S, X, parent = tree.S, tree.X, tree.parent
    IA = [I.articulated() for I in tree.I]
    U, D = {}, {}
    # leaves to root: articulated inertias
    for i in tree.inwards:
        U[i] = IA[i] @ S[i]
        D[i] = ldl(S[i].T @ U[i] + tree.armature[i])
        IA[parent[i]] += X[i].inertia(IA[i].without(S[i], U[i], D[i]))
    F, A, blocks = {}, {}, {}
    for e, contact in enumerate(tree.contacts):
        felt, path = contact.force, tree.path(contact.node)
        # contact to root: unit contact forces, as each node on the way feels them
        for i in path:
            F[e, i] = felt
            felt = X[i].force(felt - U[i] @ D[i].solve(S[i].T @ felt))
        a = zeros(6, contact.size)
        # root to contact: the accelerations that they cause
        for i in reversed(path):
            a = X[i] @ a
            a += S[i] @ D[i].solve(S[i].T @ F[e, i] - U[i].T @ a)
            A[e, i] = a
        # pairs of contacts meet at their closest common ancestor
        for o, other in enumerate(tree.contacts[: e + 1]):
            meeting = tree.closest(other.node, contact.node)
            blocks[o, e] = [F[o, meeting].T @ A[e, meeting]] if meeting >= 0 else []
    return assembled(tree, blocks)
