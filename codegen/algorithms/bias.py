"""Bias forces: Coriolis, centrifugal and gravity forces, and external wrenches.

Featherstone, Rigid Body Dynamics Algorithms, sec. 5.3: inverse dynamics at zero joint acceleration, tau = M a + bias.
Spatial vectors [angular; linear] in body frames; gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.rnea import rnea
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def bias(tree: Tree, v: SX, f_ext: SX) -> SX:
    """C v + g - J' f_ext (nv): the joint forces that keep joint velocities constant."""
    return rnea(tree, v, zeros(tree.nv), f_ext)
