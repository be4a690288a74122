"""Derivatives of the accelerations of named frames.

Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018, sec. III. Accelerations are
those of `frame_accelerations`: classical, world axes, at the frames' origins, rows [linear; angular]; columns by q are
along the tangents of joints. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.frame_changes import frame_changes
from codegen.recursions.spanning_rates import node_rates, spanning_motion, spanning_tree
from codegen.recursions.tree import Tree


def frame_acceleration_derivatives(tree: Tree, v: SX, a: SX) -> tuple[SX, SX, SX]:
    """dacceleration/dq, dacceleration/dv and J = dacceleration/da (6k x nv), six rows per frame."""
    moved = spanning_motion(tree, node_rates(tree, v), a)
    changes = [moved.reduced(own) for own in frame_changes(spanning_tree(tree), moved.v, moved.a)]
    return tuple(vertcat(*[getattr(own, name) for own in changes]) for name in ("a_q", "a_v", "J"))
