"""LTL-OSIM: the Delassus matrix by the LTL factorisation of the joint-space inertia matrix.

Featherstone, Exploiting sparsity in operational-space dynamics, IJRR 2010 (square-root-free form): with M = L' D L and
Y = L'^-1 J', W = Y' D^-1 Y, using the sparsity of L and J. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.crba import crba
from codegen.algorithms.delassus import jacobian_transpose
from codegen.spatial import ltdl, mirrored
from codegen.tree import Tree


def ltl_osim(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    M = ltdl(crba(tree), tree.dof_parent)
    Y = M.half(jacobian_transpose(tree))
    return mirrored(Y.T @ M.scale(Y))
