"""How velocities and accelerations of named frames change with positions and velocities of the joints that carry them.

Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018, sec. III. All that a joint
carries turns as one body when it is displaced: in the frame of the joint's carrier, relative velocities and
accelerations turn with it. World axes, at the frames' origins, rows [linear; angular]; accelerations are classical.
Joint axes stand still in their bodies. Gravity plays no part.
"""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, vertcat

from codegen.recursions.displacements import displacements
from codegen.recursions.motion import classical
from codegen.recursions.poses import world_poses
from codegen.recursions.spanning_rates import Changes
from codegen.recursions.tree import Tree
from codegen.spatial import cross3, skew3, zeros


@dataclass(frozen=True, slots=True)
class PointMotion:
    """Of a point that moves with a body: velocity and acceleration; and the angular ones of the body."""

    v: SX
    a: SX
    w: SX
    wdot: SX

    def moved(self, r: SX) -> PointMotion:
        """The motion of a point of the body that is r away."""
        a = self.a + cross3(self.wdot, r) + cross3(self.w, cross3(self.w, r))
        return PointMotion(self.v + cross3(self.w, r), a, self.w, self.wdot)


def frame_changes(tree: Tree, v: SX, a: SX) -> list[Changes]:
    """By frames, changes (6 x n) by the rates of the tree's joints."""
    pose, (velocity, acceleration, _) = world_poses(tree), displacements(tree.weightless, v, a)
    still = PointMotion(zeros(3), zeros(3), zeros(3), zeros(3))
    origin = {-1: still}
    # body by body: motion of its origin, along world axes
    for b in range(len(tree.parts)):
        at = classical(velocity[b], acceleration[b])
        origin[b] = PointMotion(*(pose[b].E.T @ x for x in (velocity[b][3:], at.ac, at.w, at.wdot)))
    found = []
    # frame by frame: the joints between it and the root
    for frame in tree.frames:
        place = pose[frame.body].position(frame)
        seen = {b: origin[b].moved(place - pose[b].p) for b in tree.carriers(frame.body)} | {-1: still}
        changes = Changes(*(zeros(6, tree.nv) for _ in range(4)))
        for b in tree.carriers(frame.body):
            part, dofs = tree.parts[b], tree.dofs[b]
            turn = pose[b].E.T @ part.S[:3, :]
            shift = pose[b].E.T @ part.S[3:, :] + skew3(pose[b].p - place) @ turn
            changes.J[:, dofs] = vertcat(shift, turn)
            changes.v_q[:, dofs] = velocity_by_position(seen[frame.body], seen[part.parent], turn, shift)
            changes.a_q[:, dofs] = acceleration_by_position(seen[frame.body], seen[part.parent], turn, shift)
            changes.a_v[:, dofs] = acceleration_by_velocity(seen[frame.body], seen[b], seen[part.parent], turn, shift)
        found.append(changes)
    return found


def velocity_by_position(at: PointMotion, base: PointMotion, turn: SX, shift: SX) -> SX:
    """Changes of the velocity (6 x n) of a frame that is turned and shifted against the carrier of a joint."""
    linear = skew3(base.w) @ shift - skew3(at.v - base.v) @ turn
    return vertcat(linear, -skew3(at.w - base.w) @ turn)


def acceleration_by_position(at: PointMotion, base: PointMotion, turn: SX, shift: SX) -> SX:
    """The same of the acceleration."""
    w, v, wdot = at.w - base.w, at.v - base.v, at.wdot - base.wdot - cross3(base.w, at.w)
    a = at.a - base.a - 2 * cross3(base.w, v)
    W, carried = skew3(base.w), skew3(base.wdot) @ shift + skew3(base.w) @ (skew3(base.w) @ shift)
    linear = carried - 2 * W @ (skew3(v) @ turn) - skew3(a) @ turn
    return vertcat(linear, -W @ (skew3(w) @ turn) - skew3(wdot) @ turn)


def acceleration_by_velocity(at: PointMotion, own: PointMotion, base: PointMotion, turn: SX, shift: SX) -> SX:
    """Changes of the acceleration (6 x n) of a frame by the velocity of a joint, whose own body is known, too."""
    linear = skew3(base.w + own.w) @ shift - skew3(2 * at.v - base.v - own.v) @ turn
    return vertcat(linear, skew3(base.w + own.w - at.w) @ turn)
