"""Accelerations of named frames at zero joint acceleration: Jdot v.

Featherstone, Rigid Body Dynamics Algorithms, sec. 2.11. World axes, at the frame's origin: with J of `jacobian`, the
accelerations are J a + Jdot v, of the origin in the classical sense. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.frame_accelerations import frame_accelerations
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def jdot_v(tree: Tree, v: SX) -> SX:
    """Jdot v (k x 6), rows [linear; angular] of each frame."""
    return frame_accelerations(tree, v, zeros(tree.nv))
