"""Derivatives of the velocities of named frames.

Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018, sec. III. World axes, at the
frames' origins, rows [linear; angular]; columns by q are along the tangents of joints. J has the derivatives of
positions (its linear rows) and of rotations (the angular ones), too. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.frame_changes import frame_changes
from codegen.recursions.spanning_rates import node_rates, spanning_motion, spanning_tree
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def fk_derivatives(tree: Tree, v: SX) -> tuple[SX, SX]:
    """dvelocity/dq and J = dvelocity/dv (6k x nv), six rows per frame."""
    moved = spanning_motion(tree, node_rates(tree, v), zeros(tree.nv))
    changes = [moved.reduced(own) for own in frame_changes(spanning_tree(tree), moved.v, moved.a)]
    return vertcat(*[own.v_q for own in changes]), vertcat(*[own.J for own in changes])
