"""World poses and velocities of every body: the sweeps that kinematic algorithms share.

Featherstone, Rigid Body Dynamics Algorithms, sec. 4.1 and 5.3. Gravity plays no part.
"""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, vertcat

from codegen.model import Frame
from codegen.recursions.tree import Tree
from codegen.spatial import constant, skew3, zeros


@dataclass(frozen=True, slots=True)
class WorldPose:
    """E turns world axes to body axes (its rows are the body's axes); p is the origin in the world."""

    E: SX
    p: SX

    def rotation(self, frame: Frame) -> SX:
        """The frame's axes in the world, as columns."""
        return self.E.T @ constant(frame.placement.R)

    def position(self, frame: Frame) -> SX:
        """The frame's origin in the world."""
        return self.p + self.E.T @ constant(frame.placement.p)

    def wrench(self, F: SX, at: SX) -> SX:
        """Spatial forces F (6 x c) in the body's frame as [force; moment] about a point, along world axes."""
        force = self.E.T @ F[3:, :]
        return vertcat(force, self.E.T @ F[:3, :] + skew3(self.p - at) @ force)


def world_poses(tree: Tree) -> dict[int, WorldPose]:
    """The pose of every body, the world's (-1) included."""
    pose = {-1: WorldPose(SX.eye(3), zeros(3))}
    # root to leaves, body by body: compose with the carrying body's pose
    for b, part in enumerate(tree.parts):
        base = pose[part.parent]
        pose[b] = WorldPose(part.X.vector(base.E), base.p + base.E.T @ part.X.origin)
    return pose


def velocities(tree: Tree, v: SX) -> dict[int, SX]:
    """The spatial velocity of every body in its own frame, the world's (-1) included, at joint velocity v."""
    velocity, rates = {-1: zeros(6)}, tree.rates(v)
    # root to leaves, body by body
    for b, part in enumerate(tree.parts):
        velocity[b] = part.X @ velocity[part.parent] + part.S @ rates[b]
    return velocity
