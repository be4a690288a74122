"""The inverse of the joint-space inertia matrix by its branch-sparse factors.

Featherstone, Rigid Body Dynamics Algorithms, sec. 6.5: M = L' D L, and M^-1 column by column. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.published.crba import crba
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import ltdl


def minverse(robot: PlainTree) -> SX:
    """M^-1 (nv x nv)."""
    return ltdl(crba(robot), robot.tree.dof_parent).solve(SX.eye(robot.tree.nv))
