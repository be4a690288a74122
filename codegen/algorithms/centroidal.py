"""CCRBA: centroidal momentum and the centroidal momentum matrix.

Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot, Autonomous Robots 2013. Momentum is that of the bodies,
without rotors that armatures stand for: [linear; angular] about the centre of mass, along world axes. Gravity plays no
part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.momentum import composites
from codegen.recursions.poses import world_poses
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def centroidal(tree: Tree, v: SX) -> tuple[SX, SX]:
    """h (6) and A_g (6 x nv), h = A_g v, rows [linear; angular]."""
    Ic, pose = composites(tree), world_poses(tree)
    com, A = Ic[-1].h / Ic[-1].m, zeros(6, tree.nv)
    # body by body: momentum of all that hangs on its joint, which moves at unit velocity
    for b, part in enumerate(tree.parts):
        A[:, tree.dofs[part.node]] += pose[b].wrench(Ic[b] @ part.S, com) @ tree.rates_of(b)
    return A @ v, A
