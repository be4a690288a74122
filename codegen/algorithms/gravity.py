"""Generalised gravity forces.

Featherstone, Rigid Body Dynamics Algorithms, sec. 5.3: inverse dynamics at rest. Spatial vectors [angular; linear] in
body frames; gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.rnea import rnea
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def gravity(tree: Tree) -> SX:
    """g (nv): the joint forces that hold the robot at rest; of q, the derivative of the potential energy."""
    return rnea(tree, zeros(tree.nv), zeros(tree.nv), tree.no_wrenches)
