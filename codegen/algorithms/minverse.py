"""The inverse of the joint-space inertia matrix, directly, by the articulated-body recursion.

Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms, RSS 2018, sec. V: ABA with
all unit joint forces at once, at rest and without gravity. Spatial vectors [angular; linear] in body frames.
"""

from __future__ import annotations

from casadi import SX, sparsify, vertcat

from codegen.recursions.tree import Tree
from codegen.spatial import articulated_joint, mirrored, zeros


def minverse(tree: Tree) -> SX:
    """M^-1 (nv x nv), symmetric; column c holds the accelerations under a unit force at joint axis c."""
    S, X, parent, dofs, n = tree.S, tree.X, tree.parent, tree.dofs, tree.nv
    IA = [I.articulated() for I in tree.I]
    F = [zeros(rows, n) for rows in tree.rows]
    joint, u = {}, {}
    # leaves to root: articulated inertia, and the force that the subtree's unit forces leave on each body
    for i in tree.inwards:
        joint[i], own = articulated_joint(IA[i], S[i], tree.armature[i]), zeros(S[i].size, n)
        own[:, dofs[i]] = SX.eye(S[i].size)
        u[i] = own - S[i].T @ F[i]
        IA[parent[i]] += X[i].inertia(joint[i].projected_inertia(IA[i]))
        F[parent[i]] += X[i].force(joint[i].projected_force(F[i], joint[i].D.solve(u[i]), own))
    a, rows = {-1: zeros(6, n)}, {}
    # root to leaves: accelerations; only the upper triangle is worth keeping
    for i in tree.outwards:
        y, moved = joint[i].motion(upper(X[i] @ a[parent[i]], dofs[i]), upper(u[i], dofs[i]))
        rows[i], a[i] = upper(y, dofs[i]), upper(moved, dofs[i])
    return mirrored(vertcat(*[rows[i] for i in tree.outwards]))


def upper(A: SX, dofs: slice) -> SX:
    """A without the columns left of a node's own."""
    kept = SX(A)
    kept[:, : dofs.start] = SX(A.size1(), dofs.start)
    return sparsify(kept)
