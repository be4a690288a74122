"""LTL-OSIM as published: the Delassus matrix by the joint-space inertia matrix.

Featherstone, Exploiting sparsity in operational-space dynamics, IJRR 2010: M = L' D L, Y = L'^-1 J', W = Y' D^-1 Y.
Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.published.crba import crba
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import ltdl, mirrored


def ltl_osim(robot: PlainTree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    M = ltdl(crba(robot), robot.tree.dof_parent)
    Y = M.forward(jacobian(robot).T)
    return mirrored(Y.T @ M.scale(Y))


def jacobian(robot: PlainTree) -> SX:
    """J (m x nv) of the contacts' rows."""
    J, dofs = SX(robot.tree.m, robot.tree.nv), robot.tree.dofs
    for link in robot.held:
        K = link.K
        # contact to root
        for i in robot.path(link.node):
            J[link.rows, dofs[i]] = K @ robot.S[i]
            K = K @ robot.X[i]
    return J
