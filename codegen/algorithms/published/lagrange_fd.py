"""The Lagrange multiplier method as published: forward dynamics of the spanning tree under its loop constraints.

Chignoli et al. (arXiv 2311.13732), sec. II-D (Featherstone, Rigid Body Dynamics Algorithms, ch. 8): M = L' D L, then
K M^-1 K' lambda = k - K M^-1 (tau - C). Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.algorithms.published.crba import crba
from codegen.algorithms.published.rnea import rnea
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import ltdl, mirrored, semidefinite_ldl, zeros


def lagrange_fd(robot: PlainTree, v: SX, tau: SX, f_ext: SX) -> SX:
    """Joint accelerations (nv) under joint forces tau, gravity and external wrenches."""
    tree, span = robot.tree, robot.spanning
    still, K = zeros(span.tree.nv), tree.K
    M = ltdl(crba(span), span.tree.dof_parent)
    free = M.solve(tree.own.T @ tau - rnea(span, vertcat(*tree.rates(v)), still, f_ext))
    if not K.size1():
        return tree.own @ free
    k, response = K @ vertcat(*tree.accelerations(v, zeros(tree.nv))), M.solve(K.T)
    multipliers = semidefinite_ldl(mirrored(K @ response)).solve(k - K @ free)
    return tree.own @ (free + response @ multipliers)
