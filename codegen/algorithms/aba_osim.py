"""ABA-OSIM: the Delassus matrix by the factors of M = L' D L that articulated inertias give; M is not formed.

D are those of ABA and, over every outer joint j of i, L_ji = D_j^-1 U_j' X S_i (Rodriguez, Kreutz-Delgado, Spatial
operator factorization and inversion of the manipulator mass matrix, IEEE Trans. Robotics and Automation 1992). As in
LTL-OSIM (`codegen.algorithms.ltl_osim`), Y = L'^-1 J' and W = Y' D^-1 Y, using the sparsity of L and J. Spatial vectors
[angular; linear] in body frames; gravity plays no part.
"""

from __future__ import annotations

from collections.abc import Mapping

from casadi import SX

from codegen.recursions.delassus import by_joints
from codegen.recursions.parent_side_osim import parent_side_osim
from codegen.recursions.sweeps import Articulated, inertia_sweep
from codegen.recursions.tree import LoweredContact, Tree
from codegen.spatial import zeros

Factors = Mapping[tuple[int, int], SX]
"""By nodes (j, i): U_j l'^-1 d^-1 of D_j = l d l', as forces (6 k x n_j) on an inner node i, where S_i' makes L_ji' l.

So a soft direction of D_j takes no digits from a stiff one, as an inverse of D_j would.
"""


def aba_osim(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    A = inertia_sweep(tree, tree.I)
    L = factors(tree, A)
    return parent_side_osim(tree, A, lambda held: by_joints(held, A, [half(held, A, L, e) for e in held.contacts]))


def factors(tree: Tree, A: Articulated) -> Factors:
    """Rows of l' L over the joints that carry contacts, as forces, as far in as they are needed.

    They end before a node that is free to move in all ways (a floating base), which takes what comes through the joint
    before, whatever let it through; and before a node where contacts meet, which does so, too.
    """
    free = {i for i in tree.support if tree.S[i].size == tree.rows[i]}
    takes, L = free | {i for i in tree.support if tree.meeting(i)}, {}
    for j in (j for j in tree.support if j not in free):
        D, n = A[j].D, tree.S[j].size
        i, felt = j, A[j].projected_force(zeros(tree.rows[j], n), D.backward(D.scale(SX.eye(n))), D.lower)
        # joint to root: what the unit forces that it yields to, one after another, are further in
        while tree.parent[i] >= 0 and tree.parent[i] not in takes:
            i, felt = tree.parent[i], tree.X[i].force(felt)
            L[j, i] = felt
    return L


def half(tree: Tree, A: Articulated, L: Factors, contact: LoweredContact) -> dict[int, SX]:
    """Y = L'^-1 J' of a contact (n_i x m), by the nodes of its path."""
    y, yields, locked = dict[int, SX](), dict[int, SX](), contact.force
    # contact to root: the force if all joints were locked, less what those further out have yielded to
    for i in tree.path(contact.node):
        F = locked - sum((L[j, i] @ yields[j] for j in y if (j, i) in L), zeros(tree.rows[i], contact.size))
        y[i] = tree.S[i].T @ F
        yields[i] = A[i].D.forward(y[i])
        inner = (i, tree.parent[i]) in L
        locked = tree.X[i].force(locked if inner else A[i].projected_force(F, -A[i].D.solve(y[i])))
    return y
