"""How displacements of joints move points of the bodies that they carry, and how weighted sums over such points curve.

After Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018, sec. III, taken once
more. World axes, about the origin of the first body. A displacement of joint i turns with omega and shifts with s all
that it carries; velocities against its carrier, whose own is v, turn with it, so that velocities beyond the joint
change by v x (omega, s) = (psi, sigma). Joint axes stand still in their bodies; gravity plays no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from casadi import SX

from codegen.recursions.poses import WorldPose, velocities, world_poses
from codegen.recursions.tree import Tree
from codegen.spatial import cross3, skew3, zeros


@dataclass(frozen=True, slots=True)
class Moving:
    """A body: its pose, its place r, its angular velocity w, and the velocity u of the common point with it."""

    pose: WorldPose
    r: SX
    w: SX
    u: SX

    def point(self, own: SX) -> tuple[SX, SX]:
        """Place and velocity of a point that is `own` from the body's origin, along its axes."""
        r = self.r + self.pose.E.T @ own
        return r, self.u + cross3(self.w, r)


@dataclass(frozen=True, slots=True)
class Displaced:
    """Of a joint: what its displacements do to places and to velocities beyond it (3 x n each)."""

    omega: SX
    s: SX
    psi: SX
    sigma: SX


def moving(tree: Tree, v: SX) -> dict[int, Moving]:
    """All bodies, the world (-1) included, at joint velocity v."""
    pose, velocity = world_poses(tree), velocities(tree, v)
    found = {-1: Moving(pose[-1], zeros(3), zeros(3), zeros(3))}
    for b in range(len(tree.parts)):
        r, w = pose[b].p - pose[0].p, pose[b].E.T @ velocity[b][:3]
        found[b] = Moving(pose[b], r, w, pose[b].E.T @ velocity[b][3:] - cross3(w, r))
    return found


def displaced(tree: Tree, bodies: dict[int, Moving]) -> list[Displaced]:
    """By joints, in the order of the bodies."""
    found = []
    for b, part in enumerate(tree.parts):
        own, base = bodies[b], bodies[part.parent]
        omega = own.pose.E.T @ part.S[:3, :]
        s = own.pose.E.T @ part.S[3:, :] + skew3(own.r) @ omega
        W = skew3(base.w)
        found.append(Displaced(omega, s, W @ omega, W @ s + skew3(base.u) @ omega))
    return found


def curvature(
    tree: Tree, joints: Sequence[Displaced], x: Sequence[SX], y: Sequence[SX], z: Sequence[SX]
) -> tuple[SX, SX]:
    """Derivatives of a sum (nv x nv), linear in v, by q and q, and by q and v.

    A joint i changes what a joint j beyond it, or itself, does to the sum by omega_i . x_j + psi_i . y_j, and what its
    velocity does by omega_i . z_j; what a joint i before j does with its velocity changes with j by omega_i . y_j. By a
    joint of several degrees of freedom twice, the derivative along a row's of that along a column's.
    """
    qq, qv = zeros(tree.nv, tree.nv), zeros(tree.nv, tree.nv)
    # pair by pair of joints on one path to the root
    for j, at in enumerate(tree.dofs):
        for i in tree.carriers(j):
            own, row = joints[i], tree.dofs[i]
            qq[row, at] = own.omega.T @ x[j] + own.psi.T @ y[j]
            qv[row, at] = own.omega.T @ z[j]
            if i != j:
                qq[at, row], qv[at, row] = qq[row, at].T, y[j].T @ own.omega
    return qq, qv
