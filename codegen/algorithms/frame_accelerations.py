"""Accelerations of named frames.

Featherstone, Rigid Body Dynamics Algorithms, sec. 2.11: classical accelerations, the rates of the velocities that `fk`
gives. World axes, at the frame's origin; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.motion import motions
from codegen.recursions.poses import world_poses
from codegen.recursions.tree import Tree
from codegen.spatial import constant


def frame_accelerations(tree: Tree, v: SX, a: SX) -> SX:
    """Accelerations (k x 6) [linear; angular] of the motion (q, v, a)."""
    motion, pose, found = motions(tree.weightless, v, a), world_poses(tree), []
    # frame by frame: the body's motion, seen at the frame in world axes
    for frame in tree.frames:
        at, E = motion[frame.body], pose[frame.body].E
        origin = at.ac + at.Omega @ constant(frame.placement.p)
        found.append(vertcat(E.T @ origin, E.T @ at.wdot).T)
    return vertcat(*found)
