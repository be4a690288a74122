"""Forward dynamics by Lagrange multipliers: the spanning tree, and its loop constraints K qddot = k.

The exact baseline of Chignoli et al. (arXiv 2311.13732), sec. II-D (Featherstone, Rigid Body Dynamics Algorithms,
ch. 8): M by L' D L, then the multipliers from K M^-1 K'. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.algorithms.crba import crba
from codegen.algorithms.rnea import rnea
from codegen.recursions.tree import Tree, opened
from codegen.spatial import ltdl, semidefinite_ldl, zeros


def lagrange_fd(tree: Tree, v: SX, tau: SX, f_ext: SX) -> SX:
    """Joint accelerations (nv) under joint forces tau, gravity and external wrenches."""
    span, rates = opened(tree), vertcat(*tree.rates(v))
    M = ltdl(crba(span), span.dof_parent)
    free = M.solve(tree.own.T @ tau - rnea(span, rates, zeros(span.nv), f_ext))
    k = tree.K @ vertcat(*tree.accelerations(v, zeros(tree.nv)))
    if not tree.K.size1():
        return tree.own @ free
    response = M.solve(tree.K.T)
    multipliers = semidefinite_ldl(tree.K @ response).solve(k - tree.K @ free)
    return tree.own @ (free + response @ multipliers)
