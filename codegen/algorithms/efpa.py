"""EFPA, the extended-force-propagator algorithm: the inverse operational-space inertia (Delassus) matrix.

Wensing, Featherstone, Orin, A reduced-order recursive algorithm for the computation of the operational-space inertia
matrix, ICRA 2012; over clusters, Chignoli et al. (arXiv 2311.13732), sec. VIII: O(n + m d + m^2). Two contacts meet at
their closest common ancestor: its joint adds y' D^-1 y, and the acceleration of its parent, projected on the forces
there, what joints further in do. Spatial vectors [angular; linear] in body frames; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.delassus import assembled, meeting
from codegen.recursions.sweeps import inertia_sweep
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def efpa(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    S, X, parent, joint = tree.S, tree.X, tree.parent, inertia_sweep(tree, tree.I)
    F, A, half, scaled, blocks = {}, {}, {}, {}, {}
    for e, contact in enumerate(tree.contacts):
        # contact to root: unit contact forces, as each joint feels them, and then the parent of its node
        felt = contact.force
        for i in tree.path(contact.node):
            half[e, i] = joint[i].D.forward(S[i].T @ felt)
            scaled[e, i] = joint[i].D.scale(half[e, i])
            felt = F[e, parent[i]] = X[i].force(joint[i].projected_force(felt, -joint[i].D.backward(scaled[e, i])))
        # root to contact: the accelerations that they cause
        A[e, -1] = zeros(6, contact.size)
        for i in reversed(tree.path(contact.node)[1:]):
            _, A[e, i] = joint[i].motion(X[i] @ A[e, parent[i]], S[i].T @ F[e, i])
        # this and earlier contacts: the acceleration of a node, and what joints beyond it add
        for o in range(e + 1):
            node, beyond = meeting(tree, o, e)
            blocks[o, e] = [F[o, node].T @ A[e, node], *(half[o, i].T @ scaled[e, i] for i in beyond)]
    return assembled(tree, blocks)
