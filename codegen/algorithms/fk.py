"""Forward kinematics: poses and velocities of named frames.

Featherstone, Rigid Body Dynamics Algorithms, sec. 4.1 and 5.3 (velocities). Results are in world axes, at the
frame's origin; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.poses import velocities, world_poses
from codegen.recursions.tree import Tree
from codegen.spatial import constant, cross3


def fk(tree: Tree, v: SX) -> tuple[SX, SX, SX]:
    """Position (k x 3), rotation (3k x 3, columns are the frame's axes), velocity (k x 6) [linear; angular]."""
    velocity, pose = velocities(tree, v), world_poses(tree)
    position, rotation, twist = [], [], []
    # frame by frame: the body's motion, seen at the frame in world axes
    for frame in tree.frames:
        body, w, linear = pose[frame.body], velocity[frame.body][:3], velocity[frame.body][3:]
        at = linear + cross3(w, constant(frame.placement.p))
        position.append(body.position(frame).T)
        rotation.append(body.rotation(frame))
        twist.append(vertcat(body.E.T @ at, body.E.T @ w).T)
    return vertcat(*position), vertcat(*rotation), vertcat(*twist)
