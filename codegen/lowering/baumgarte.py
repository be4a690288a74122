"""Contacts as users state them, around the sweeps: wanted accelerations with feedback, and axes that stay outside.

Baumgarte, Stabilization of constraints and integrals of motion in dynamical systems, 1972: rows want
k - kp e - kd edot. e is the frame's error against its target, e = [log(R*' R); p - p*], along the rows' axes, the point
of a row in place of the frame's origin; edot = [w - w*; v - v*]. Rows of spatial accelerations want w x v less of the
classical one that the sweeps hold. Gravity plays no part.
"""

from __future__ import annotations

from collections.abc import Mapping

from casadi import DM, SX, vertcat

from codegen.recursions.poses import velocities, world_poses
from codegen.recursions.tree import LoweredContact, Tree
from codegen.spatial import cross3, so3_log, zeros


def wanted(tree: Tree, v: SX, k: SX, given: Mapping[str, SX]) -> SX:
    """Accelerations (m) that the sweeps' rows want, from those of the user's rows, gains and targets (world axes)."""
    pose, motion, rows = world_poses(tree), velocities(tree, v), []
    p, R, V = (given.get(f"target_{name}") for name in ("position", "rotation", "velocity"))
    for held in tree.contacts:
        at, stated = held.on_body, held.stated
        n, body = stated.contact, pose[held.body]
        axes, w = at.axes.vector(body.E), at.axes.vector(motion[held.body][:3])
        linear = at.axes.vector(motion[held.body][3:] + cross3(motion[held.body][:3], at.origin))
        Rb = axes.T @ stated.own
        Rn = R[3 * n : 3 * n + 3, :] if R is not None else Rb  # points turn with the frame where no turn is wanted
        error, rate, arm = zeros(6), vertcat(w, linear), Rn @ stated.point
        if p is not None:
            gap = at.axes.vector(at.origin) + axes @ (body.p - p[n, :].T - arm)
            error = vertcat(stated.own @ so3_log(Rn.T @ Rb) if R is not None else zeros(3), gap)
        if V is not None:
            rate -= vertcat(axes @ V[n, 3:].T, axes @ (V[n, :3].T + cross3(V[n, 3:].T, arm)))
        still = gained(held, given["kp"], at.K @ error) + gained(held, given["kd"], at.K @ rate)
        spatial = at.K[:, 3:] @ cross3(w, linear) if stated.spatial else zeros(held.size)
        rows.append(inwards(held, k) + spatial - still)
    return vertcat(*rows)


def gained(held: LoweredContact, gain: SX, x: SX) -> SX:
    """Gains (m) of the user's rows times values of the sweeps' rows (of one contact)."""
    own = gain[held.rows]
    if held.stated.turn is None or (own.is_constant() and len(set(DM(own).full().ravel())) == 1):
        return own * x
    return held.stated.turn.T @ (own * (held.stated.turn @ x))


def inwards(held: LoweredContact, x: SX) -> SX:
    """One contact's part of values (m) of the user's rows, as the sweeps' rows have it."""
    return x[held.rows] if held.stated.turn is None else held.stated.turn.T @ x[held.rows]


def all_inwards(tree: Tree, x: SX) -> SX:
    """Values (m) of the user's rows, as the sweeps' rows have them."""
    return vertcat(*[inwards(held, x) for held in tree.contacts]) if any_turned(tree) else x


def outwards(tree: Tree, x: SX) -> SX:
    """Values (m) of the sweeps' rows, as those of the user have them."""
    parts = ((held.stated.turn, x[held.rows]) for held in tree.contacts)
    return vertcat(*[part if turn is None else turn @ part for turn, part in parts]) if any_turned(tree) else x


def any_turned(tree: Tree) -> bool:
    """Whether axes of some contact stay outside the sweeps."""
    return any(held.stated.turn is not None for held in tree.contacts)
