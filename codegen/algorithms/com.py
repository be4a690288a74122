"""Centre of mass of the robot, and its velocity.

Featherstone, Rigid Body Dynamics Algorithms, sec. 2.13: total first moment over total mass, and linear momentum over
total mass, both summed from the leaves to the root. World axes; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.momentum import composites, momentum
from codegen.recursions.tree import Tree


def com(tree: Tree, v: SX) -> tuple[SX, SX]:
    """Position (3) and velocity (3) of the centre of mass of all moving bodies, in the world."""
    whole = composites(tree)[-1]
    return whole.h / whole.m, momentum(tree, v)[3:] / whole.m
