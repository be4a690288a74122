"""Forward dynamics by CRBA and the LTL factorisation, whose factors keep the tree's branch-induced sparsity.

Featherstone, Rigid Body Dynamics Algorithms, sec. 6.5 and 8.4 (the square-root-free form M = L' D L).
Gravity enters through the bias motion, as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.crba import crba
from codegen.algorithms.rnea import inverse
from codegen.recursions.motion import bias_motion
from codegen.recursions.tree import Tree
from codegen.spatial import ltdl


def ltl(tree: Tree, v: SX, tau: SX, f_ext: SX) -> SX:
    """Joint accelerations (nv) under joint forces tau, gravity and external wrenches."""
    a0, motion = bias_motion(tree, v)
    missing = tau - inverse(tree, motion, v, a0, f_ext)
    return a0 + ltdl(crba(tree), tree.dof_parent).solve(missing)
