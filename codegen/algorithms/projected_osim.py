"""The Delassus matrix by projection: the spanning tree's inertia matrix and Jacobians between G' and G.

The exact baseline of Chignoli et al. (arXiv 2311.13732), sec. II-E: W = J G (G' M G)^-1 G' J', by L' D L with the
sparsity that the tree of clusters leaves. Spatial vectors [angular; linear]; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, horzcat

from codegen.algorithms.crba import crba
from codegen.recursions.tree import Tree, opened
from codegen.spatial import ltdl, zeros


def projected_osim(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    span, columns = opened(tree), []
    for contact in tree.contacts:
        felt, J = contact.on_body.force, {}
        # contact to root: unit contact forces, as each joint on the way feels them
        for i in span.path(contact.body):
            J[i] = span.S[i].T @ felt
            felt = span.X[i].force(felt)
        rows = [J.get(i, zeros(span.S[i].size, contact.size)) for i in span.outwards]
        columns.append(tree.G.T @ span.join(rows))
    M = ltdl(tree.G.T @ crba(span) @ tree.G, tree.dof_parent)
    half = M.forward(horzcat(*columns))
    return half.T @ M.scale(half)
