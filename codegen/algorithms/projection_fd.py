"""Forward dynamics by the projection method: the spanning tree's inertia matrix between G' and G.

The exact baseline of Chignoli et al. (arXiv 2311.13732), sec. II-D: G' M G a = tau - G' C, factorised as L' D L with
the sparsity that the tree of clusters leaves. Gravity enters through the bias, as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.crba import crba
from codegen.algorithms.projected_rnea import projected_rnea
from codegen.recursions.tree import Tree, opened
from codegen.spatial import ltdl, zeros


def projection_fd(tree: Tree, v: SX, tau: SX, f_ext: SX) -> SX:
    """Joint accelerations (nv) under joint forces tau, gravity and external wrenches."""
    M = tree.G.T @ crba(opened(tree)) @ tree.G
    missing = tau - projected_rnea(tree, v, zeros(tree.nv), f_ext)
    return ltdl(M, tree.dof_parent).solve(missing)
