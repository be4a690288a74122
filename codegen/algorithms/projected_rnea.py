"""Projected RNEA: inverse dynamics of the spanning tree, projected on the independent coordinates.

The exact baseline of Chignoli et al. (arXiv 2311.13732), sec. II-C: tau = G' RNEA(q, G v, G a + g). Spatial vectors
[angular; linear] in body frames; gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.algorithms.rnea import rnea
from codegen.recursions.tree import Tree, opened


def projected_rnea(tree: Tree, v: SX, a: SX, f_ext: SX) -> SX:
    """Joint forces tau (nv) of the motion (q, v, a) under gravity and external wrenches."""
    rates, accelerations = vertcat(*tree.rates(v)), vertcat(*tree.accelerations(v, a))
    return tree.G.T @ rnea(opened(tree), rates, accelerations, f_ext)
