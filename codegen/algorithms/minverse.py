"""The inverse of the joint-space inertia matrix, directly, by the articulated-body recursion.

Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms, RSS 2018, sec. V: ABA with
all unit joint forces at once, at rest and without gravity. Spatial vectors [angular; linear] in body frames.
"""

from __future__ import annotations

from casadi import SX, sparsify, vertcat

from codegen.spatial import ldl, mirrored, zeros
from codegen.tree import Tree


def minverse(tree: Tree) -> SX:
    """M^-1 (nv x nv), symmetric; column c holds the accelerations under a unit force at joint axis c."""
    S, X, parent, dofs, n = tree.S, tree.X, tree.parent, tree.dofs, tree.nv
    IA = [I.articulated() for I in tree.I]
    F = [zeros(rows, n) for rows in tree.rows]
    U, D, y = {}, {}, {}
    # leaves to root: articulated inertia, and the force that the subtree's unit forces leave on each body
    for i in tree.inwards:
        U[i] = IA[i] @ S[i]
        D[i] = ldl(S[i].T @ U[i] + tree.armature[i])
        unit = -(S[i].T @ F[i])
        unit[:, dofs[i]] = SX.eye(D[i].size)
        y[i] = D[i].solve(unit)
        IA[parent[i]] += X[i].inertia(IA[i].without(S[i], U[i], D[i]))
        F[parent[i]] += X[i].force(F[i] + U[i] @ y[i])
    a, rows = {-1: zeros(6, n)}, {}
    # root to leaves: accelerations; only the upper triangle is worth keeping
    for i in tree.outwards:
        carried = X[i] @ a[parent[i]]
        rows[i] = upper(y[i] - D[i].solve(U[i].T @ carried), dofs[i])
        a[i] = upper(carried + S[i] @ rows[i], dofs[i])
    return mirrored(vertcat(*[rows[i] for i in tree.outwards]))


def upper(A: SX, dofs: slice) -> SX:
    """A without the columns left of a node's own."""
    kept = SX(A)
    kept[:, : dofs.start] = SX(A.size1(), dofs.start)
    return sparsify(kept)
