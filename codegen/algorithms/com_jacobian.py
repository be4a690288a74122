"""Jacobian of the centre of mass.

Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot, 2013: column j is the linear momentum of all that moves
with joint axis j, over the robot's mass. World axes; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.momentum import composites
from codegen.recursions.poses import world_poses
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def com_jacobian(tree: Tree) -> SX:
    """J_com (3 x nv): velocity of the centre of mass = J_com v."""
    Ic, pose = composites(tree), world_poses(tree)
    J = zeros(3, tree.nv)
    # body by body: linear momentum of all that hangs on its joint, which moves at unit velocity
    for b, part in enumerate(tree.parts):
        moving = (Ic[b] @ part.S)[3:, :] / Ic[-1].m
        J[:, tree.dofs[part.node]] += pose[b].E.T @ moving @ tree.rates_of(b)
    return J
