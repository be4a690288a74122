"""Motion sweep: velocities and accelerations at given joint accelerations, and the forces that they need.

Newton-Euler by classical accelerations: a body whose frame turns with angular velocity w has points r that
accelerate as ac + Omega r, Omega = [wdot]x + w w' - |w|^2 1, and needs the force that its inertia makes of
that (Featherstone, Rigid Body Dynamics Algorithms, ch. 2; equal to the book's I a + v x* I v).
Frames: each body's own. Gravity is upward acceleration of the world: ac_world = -g.
"""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, vertcat

from codegen.recursions.tree import Part, Tree
from codegen.spatial import cross3, without_rows, zeros


@dataclass(frozen=True, slots=True)
class Motion:
    """Angular velocity and acceleration, acceleration matrix, classical acceleration of the origin."""

    w: SX
    wdot: SX
    Omega: SX
    ac: SX


def acceleration_matrix(w: SX, wdot: SX) -> SX:
    """Omega = [wdot]x + w w' - |w|^2 1."""
    x, y, z = w[0], w[1], w[2]
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    Omega = SX(3, 3)
    Omega[0, 0], Omega[1, 1], Omega[2, 2] = -(yy + zz), -(xx + zz), -(xx + yy)
    Omega[0, 1], Omega[1, 0] = xy - wdot[2], xy + wdot[2]
    Omega[0, 2], Omega[2, 0] = xz + wdot[1], xz - wdot[1]
    Omega[1, 2], Omega[2, 1] = yz - wdot[0], yz + wdot[0]
    return Omega


def classical(v: SX, a: SX) -> Motion:
    """The motion of a body with spatial velocity v and spatial acceleration a."""
    return Motion(v[:3], a[:3], acceleration_matrix(v[:3], a[:3]), a[3:] + cross3(v[:3], v[3:]))


def moved(part: Part, base: Motion, v: SX, vdot: SX) -> Motion:
    """The motion of a body carried by one that moves as `base`, at joint velocity v and acceleration vdot."""
    X, S = part.X, part.S
    carried, joint = X.vector(base.w), S[:3, :] @ v
    w = carried + joint
    wdot = X.vector(base.wdot) + cross3(carried, joint) + S[:3, :] @ vdot
    origin = X.vector(base.ac + base.Omega @ X.origin)
    coriolis = 2 * cross3(carried, S[3:, :] @ v)
    ac = origin + coriolis + part.joint.drift(part.q, v) + S[3:, :] @ vdot
    return Motion(w, wdot, acceleration_matrix(w, wdot), ac)


def motions(tree: Tree, v: SX, vdot: SX) -> dict[int, Motion]:
    """The motion of every body at joint velocity v and acceleration vdot; that of the world is number -1."""
    motion = {-1: Motion(zeros(3), zeros(3), zeros(3, 3), -tree.gravity)}
    rates, accelerations = tree.rates(v), tree.accelerations(v, vdot)
    # root to leaves, body by body
    for b, part in enumerate(tree.parts):
        motion[b] = moved(part, motion[part.parent], rates[b], accelerations[b])
    return motion


def forces(tree: Tree, motion: dict[int, Motion], f_ext: SX) -> list[SX]:
    """Spatial forces that the bodies need for a motion, less external ones, stacked by nodes.

    The world, which needs none, comes last.
    """
    external = tree.wrenches(f_ext)
    moving = (motion[b] for b in range(len(tree.parts)))
    needed = [part.I.force(at.w, at.wdot, at.Omega, at.ac) for part, at in zip(tree.parts, moving, strict=True)]
    return tree.stack([f - g for f, g in zip(needed, external, strict=True)])


def constraint_rhs(tree: Tree, motion: dict[int, Motion], k: SX) -> SX:
    """k (m) less what the contacts' rows see of a motion: angular and classical acceleration of their frames."""
    fall, rows = {-1: tree.gravity}, []
    # root to leaves, body by body: the acceleration of free fall, which motions leave out
    for b, part in enumerate(tree.parts):
        fall[b] = part.X.vector(fall[part.parent])
    for contact in tree.contacts:
        at = motion[contact.body]
        linear = at.ac + fall[contact.body] + at.Omega @ contact.on_body.origin
        seen = vertcat(contact.on_body.axes.vector(at.wdot), contact.on_body.axes.vector(linear))
        rows.append(k[contact.rows] - contact.on_body.K @ seen)
    return vertcat(*rows) if rows else zeros(0)


def bias_motion(tree: Tree, v: SX) -> tuple[SX, dict[int, Motion]]:
    """The joint accelerations from which forward dynamics measures, and the motion of every body under them.

    A joint that is free along some axes of its body rests there: its acceleration undoes what reaches the body along
    them. A floating base is then at rest altogether, and gravity and velocity products stay out of the whole tree.
    Joints with armature, which would need a force of its own, stay at zero, as do those whose loops give them motions.
    """
    motion = {-1: Motion(zeros(3), zeros(3), zeros(3, 3), -tree.gravity)}
    rates, vdot = tree.rates(v), [zeros(S.size) for S in tree.S]
    still = tree.accelerations(v, vertcat(*vdot))
    # root to leaves, body by body
    for b, part in enumerate(tree.parts):
        motion[b] = at = moved(part, motion[part.parent], rates[b], still[b] + tree.rates_of(b) @ vdot[part.node])
        if tree.rests(b):
            felt, S = vertcat(at.wdot, at.ac), part.S
            left = without_rows(felt, [r for r in range(6) if not S[r, :].is_zero()])
            motion[b] = Motion(at.w, left[:3], acceleration_matrix(at.w, left[:3]), left[3:])
            vdot[part.node] = -(S.T @ felt)
    return vertcat(*vdot), motion
