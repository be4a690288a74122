"""The projection method as published: forward dynamics by the spanning tree's inertia matrix between G' and G.

Chignoli et al. (arXiv 2311.13732), sec. II-D: G' M G a = tau - G' C, factorised as L' D L with the sparsity that the
tree of clusters leaves. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.published.crba import crba
from codegen.algorithms.published.projected_rnea import projected_rnea
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import LTDL, ltdl, mirrored, zeros


def projection_fd(robot: PlainTree, v: SX, tau: SX, f_ext: SX) -> SX:
    """Joint accelerations (nv) under joint forces tau, gravity and external wrenches."""
    C = projected_rnea(robot, v, zeros(robot.tree.nv), f_ext)
    return projected_inertia(robot).solve(tau - C)


def projected_inertia(robot: PlainTree) -> LTDL:
    """The factors of G' M G (nv x nv)."""
    G = robot.tree.G
    return ltdl(mirrored(G.T @ crba(robot.spanning) @ G), robot.tree.dof_parent)
