"""KJR: the Delassus matrix by the recursion of the links' own inverse inertias.

Kreutz-Delgado, Jain, Rodriguez, Recursive formulation of operational-space control, IJRR 1992: backward sweep for the
articulated inertias, forward sweep for the inverse inertia of every link that carries a contact, then every
pair of contacts down to their closest common ancestor: O(n + m^2 d). Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.delassus import assembled
from codegen.recursions.sweeps import carried, inertia_sweep
from codegen.recursions.tree import Tree
from codegen.spatial import yielding, zeros


def kjr(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    A, Omega = inertia_sweep(tree, tree.I), {-1: zeros(6, 6)}
    # root to contacts: inverse inertia of every node that carries one
    for i in tree.support:
        held = tree.X[i].compliance(Omega[tree.parent[i]])
        Omega[i] = yielding(held, tree.S[i].columns, A[i].U, A[i].D)
    blocks = {}
    # pairs of contacts: both down to their closest common ancestor, link by link
    for e, contact in enumerate(tree.contacts):
        for o, other in enumerate(tree.contacts[: e + 1]):
            meeting = tree.closest(other.node, contact.node)
            K = [carried(tree, A, held.force, held.node, meeting) for held in (other, contact)]
            blocks[o, e] = [K[0].T @ Omega[meeting] @ K[1]] if meeting >= 0 else []
    return assembled(tree, blocks)
