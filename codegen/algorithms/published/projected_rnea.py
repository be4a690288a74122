"""Projected RNEA as published: inverse dynamics of the spanning tree, projected on the independent coordinates.

Chignoli et al. (arXiv 2311.13732), sec. II-C: tau = G' RNEA(q, G v, G a + g). Gravity enters as upward acceleration of
the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.algorithms.published.rnea import rnea
from codegen.recursions.plain_tree import PlainTree


def projected_rnea(robot: PlainTree, v: SX, a: SX, f_ext: SX) -> SX:
    """Joint forces tau (nv) of the motion (q, v, a) under gravity and external wrenches."""
    tree = robot.tree
    rates, accelerations = vertcat(*tree.rates(v)), vertcat(*tree.accelerations(v, a))
    return tree.G.T @ rnea(robot.spanning, rates, accelerations, f_ext)
