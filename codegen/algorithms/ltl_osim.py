"""LTL-OSIM: the Delassus matrix by the LTL factorisation of the joint-space inertia matrix.

Featherstone, Exploiting sparsity in operational-space dynamics, IJRR 2010 (square-root-free form): M = L' D L by CRBA
and the factorisation that keeps the tree's branch-induced sparsity, Y = L'^-1 J', which has the sparsity of J' and of
L, and W = Y' D^-1 Y: O(n d^2 + m d^2 + m^2 d). Over node frames, spatial vectors [angular; linear]; gravity plays no
part.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.crba import crba
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.tree import Tree
from codegen.spatial import ltdl, mirrored


def ltl_osim(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    M = ltdl(crba(tree), tree.dof_parent)
    Y = M.forward(jacobian_transpose(tree))
    return mirrored(Y.T @ M.scale(Y))
