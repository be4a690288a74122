"""LTL as published: forward dynamics by the joint-space inertia matrix.

Featherstone, Rigid Body Dynamics Algorithms, sec. 6.5 and 8.4: CRBA, RNEA at zero accelerations, and the branch-sparse
factorisation M = L' D L. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.published.crba import crba
from codegen.algorithms.published.rnea import rnea
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import ltdl, zeros


def ltl(robot: PlainTree, v: SX, tau: SX, f_ext: SX) -> SX:
    """Joint accelerations (nv) under joint forces tau, gravity and external wrenches."""
    C = rnea(robot, v, zeros(robot.tree.nv), f_ext)
    return ltdl(crba(robot), robot.tree.dof_parent).solve(tau - C)
