"""CRBA as published: the joint-space inertia matrix.

Featherstone, Rigid Body Dynamics Algorithms, table 6.2 (`HandC` of spatial_v2). Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import mirrored


def crba(robot: PlainTree) -> SX:
    """The joint-space inertia matrix M (nv x nv), symmetric, with the armatures on its diagonal."""
    return composite(robot, robot.I)


def composite(robot: PlainTree, I: tuple[SX, ...]) -> SX:
    """The same of links with inertias I."""
    X, S, parent, dofs, Ic = robot.X, robot.S, robot.parent, robot.tree.dofs, list(I)
    M = SX(robot.tree.nv, robot.tree.nv)
    # leaves to root: composite inertias
    for i in robot.inwards:
        if parent[i] >= 0:
            Ic[parent[i]] += mirrored(X[i].T @ Ic[i] @ X[i])
    for i in robot.outwards:
        F = Ic[i] @ S[i]
        M[dofs[i], dofs[i]] = S[i].T @ F + robot.armature[i]
        # to the root: the forces that a unit motion of joint i needs
        for j, above in zip(robot.path(i), robot.path(i)[1:], strict=False):
            F = X[j].T @ F
            M[dofs[above], dofs[i]] = S[above].T @ F
    return mirrored(M)
