"""Rate of centroidal momentum at zero joint acceleration: Adot_g v.

Wensing and Orin, Improved computation of the humanoid centroidal dynamics, 2016: the sum of the forces that all bodies
need for their velocity-product accelerations, about the centre of mass. World axes, [linear; angular]; gravity and
armatures play no part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.momentum import centre_of_mass
from codegen.recursions.motion import forces, motions
from codegen.recursions.tree import Tree
from codegen.spatial import cross3, zeros


def centroidal_bias(tree: Tree, v: SX) -> SX:
    """Adot_g v (6): the rate of centroidal momentum is A_g a + Adot_g v."""
    tree, com = tree.weightless, centre_of_mass(tree)
    f = forces(tree, motions(tree, v, zeros(tree.nv)), tree.no_wrenches)
    # leaves to root: forces on a node and on all that it carries
    for i in tree.inwards:
        f[tree.parent[i]] += tree.X[i].force(f[i])
    force = f[-1][3:]
    return vertcat(force, f[-1][:3] - cross3(com, force))
