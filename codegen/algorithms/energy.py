"""Kinetic and potential energy.

Featherstone, Rigid Body Dynamics Algorithms, sec. 2.14: v' I v / 2 over all bodies, and -g' m c. Armatures are part of
the kinetic energy, which is v' M v / 2; the potential energy vanishes where the centre of mass is at the origin of the
world. The power of the joint forces is the rate of their sum.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.momentum import composites
from codegen.recursions.poses import velocities
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def energy(tree: Tree, v: SX) -> tuple[SX, SX]:
    """Kinetic and potential energy (J)."""
    velocity, twice = velocities(tree, v), zeros(1)
    # body by body
    for b, part in enumerate(tree.parts):
        twice += velocity[b].T @ (part.I @ velocity[b])
    # node by node: rotors
    for A, v_i in zip(tree.armature, tree.split(v), strict=True):
        twice += v_i.T @ A @ v_i
    return twice / 2, -(tree.gravity.T @ composites(tree)[-1].h)
