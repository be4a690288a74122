"""The projection method for the Delassus matrix as published: W = J G (G' M G)^-1 G' J'.

Chignoli et al. (arXiv 2311.13732), sec. II-E, by L' D L with the sparsity that the tree of clusters leaves. Gravity
plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.published.ltl_osim import jacobian
from codegen.algorithms.published.projection_fd import projected_inertia
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import mirrored


def projected_osim(robot: PlainTree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    M = projected_inertia(robot)
    Y = M.forward(robot.tree.G.T @ jacobian(robot.spanning).T)
    return mirrored(Y.T @ M.scale(Y))
