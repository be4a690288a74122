"""Geometric Jacobians of named frames.

Featherstone, Rigid Body Dynamics Algorithms, sec. 4.1 and 8.3: column j is the velocity that joint axis j gives
the frame. World axes, at the frame's origin, rows [linear; angular]; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.poses import world_poses
from codegen.recursions.tree import Tree
from codegen.spatial import skew3, zeros


def jacobian(tree: Tree) -> SX:
    """J (6k x nv), six rows [linear; angular] per frame: frame velocity = J v."""
    pose = world_poses(tree)
    axes = [(pose[b].E.T @ part.S[:3, :], pose[b].E.T @ part.S[3:, :]) for b, part in enumerate(tree.parts)]
    blocks = []
    # frame by frame: the joints between it and the root
    for frame in tree.frames:
        J, at = zeros(6, tree.nv), pose[frame.body].position(frame)
        for b in tree.carriers(frame.body):
            angular, linear = axes[b]
            motion = vertcat(linear + skew3(pose[b].p - at) @ angular, angular)
            J[:, tree.dofs[tree.parts[b].node]] += motion @ tree.rates_of(b)
        blocks.append(J)
    return vertcat(*blocks)
