"""LTL-OSIM: the Delassus matrix by the LTL factorisation of the joint-space inertia matrix.

Featherstone, Exploiting sparsity in operational-space dynamics, IJRR 2010 (square-root-free form): with M = L' D L and
Y = L'^-1 J', W = Y' D^-1 Y, using the sparsity of L and J. M itself is not needed: its factors are D of articulated
inertias and, over every outer joint j of i, L_ji = D_j^-1 U_j' X S_i (Rodriguez, Kreutz-Delgado, Spatial operator
factorization and inversion of the manipulator mass matrix, IEEE Trans. Robotics and Automation 1992). Spatial vectors
[angular; linear] in body frames; gravity plays no part.
"""

from __future__ import annotations

from collections.abc import Mapping

from casadi import SX

from codegen.algorithms.behind import behind
from codegen.algorithms.delassus import by_joints
from codegen.algorithms.sweeps import Articulated, articulated
from codegen.spatial import zeros
from codegen.tree import Held, Tree

Factors = Mapping[tuple[int, int], SX]  # by nodes (j, i): D_j^-1 U_j', as forces (6 k x n_j) on an inner node i


def ltl_osim(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    A = articulated(tree, tree.I)
    L = factors(tree, A)
    return behind(tree, A, lambda held: by_joints(held, A, [half(held, A, L, e) for e in held.contacts]))


def factors(tree: Tree, A: Articulated) -> Factors:
    """The forces whose joint forces are the rows of L, over the joints that carry contacts."""
    L = {}
    for j in tree.support:
        n = tree.S[j].size
        felt = A[j].force(zeros(tree.rows[j], n), A[j].D.inverse(), SX.eye(n))
        # joint to root: what a unit force that it yields to is further in
        for i in tree.path(j):
            L[j, i] = felt
            felt = tree.X[i].force(felt)
    return L


def half(tree: Tree, A: Articulated, L: Factors, contact: Held) -> dict[int, SX]:
    """Y = L'^-1 J' of a contact (n_i x m), by the nodes of its path.

    A root that feels all forces (a floating base) takes what comes through the joint before, whatever let it through;
    so does a node where contacts meet.
    """
    path, y, outer, locked = tree.path(contact.node), dict[int, SX](), list[int](), contact.force
    takes = {i for i in path if tree.meeting(i) or (tree.parent[i] < 0 and tree.S[i].size == tree.rows[i])}
    # contact to root: the force if all joints were locked, less what those further out have yielded to
    for i in path:
        F = locked - sum((L[j, i] @ y[j] for j in outer), zeros(tree.rows[i], contact.size))
        y[i] = tree.S[i].T @ F
        locked, outer = tree.X[i].force(locked), [*outer, i]
        if tree.parent[i] in takes:
            locked, outer = tree.X[i].force(A[i].force(F, -A[i].D.solve(y[i]))), []
    return y
