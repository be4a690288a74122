"""What controllers ask for, for the oracle: body by body, from velocities and Jacobians of centres of mass.

Everything is in world axes, [linear; angular]. Robots with loops are their spanning tree, a tree its own. Shapes are
those of one state; inputs with leading batch dimensions put these in front (of all but derivatives and `coriolis`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import Pose
from codegen.oracle import dynamics, kinematics, loops
from codegen.oracle.batches import apply, below, end_to_end, numbers, transposed
from codegen.oracle.derivatives import analytic, many_differences, slopes
from codegen.oracle.rotations import cross, cross_matrix
from codegen.oracle.steps import integrate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]

ENTRIES = {
    **dict.fromkeys(("com", "com_jacobian", "centroidal", "centroidal_bias", "centroidal_derivatives"), ""),
    **dict.fromkeys(("energy", "gravity", "coriolis", "regressor"), ""),
    **dict.fromkeys(("jdot_v", "frame_accelerations", "fk_derivatives", "frame_acceleration_derivatives"), "frames"),
    "bias": "wrenches",
}
"""The functions of this module that are algorithms, and what else each takes."""


@dataclass(frozen=True, slots=True)
class Moving:
    """A body: its mass, its rotational inertia about the centre of mass, the motion of that point at velocities v.

    linear, angular (3, nv) are Jacobians, acceleration and angular_acceleration (3) those at zero joint acceleration,
    in the robot's own velocities.
    """

    mass: float
    rotational: Array
    at: kinematics.Motion
    linear: Array
    angular: Array
    acceleration: Array
    angular_acceleration: Array


def bodies(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> list[Moving]:
    """All bodies at positions q and velocities v (rest)."""
    robot = loops.closed(model, q)
    rates = apply(robot.G, np.zeros(model.nv) if v is None else numbers(v))
    g, found = robot.g(rates), []
    for body, frame in zip(model.bodies, kinematics.motions(robot.tree, robot.q, rates), strict=True):
        at = frame.at(Pose(translation=body.inertia.com))
        rotational = at.R @ np.array(body.inertia.moment) @ transposed(at.R)
        linear, angular = at.linear @ robot.G, at.angular @ robot.G
        bend = at.acceleration + apply(at.linear, g), at.angular_acceleration + apply(at.angular, g)
        found.append(Moving(body.inertia.mass, rotational, at, linear, angular, *bend))
    return found


def com(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Position (3) and velocity (3) of the centre of mass."""
    return _centre(bodies(model, q, v))


def _centre(moving: Sequence[Moving]) -> tuple[Array, Array]:
    """Position (3) and velocity (3) of the centre of mass of bodies."""
    m = sum(body.mass for body in moving)
    place, speed = (sum(b.mass * getattr(b.at, name) for b in moving) / m for name in ("p", "velocity"))
    return np.asarray(place), np.asarray(speed)


def com_jacobian(model: Model, q: ArrayLike) -> Array:
    """The Jacobian (3, nv) of the centre of mass."""
    moving = bodies(model, q)
    return np.asarray(sum(b.mass * b.linear for b in moving) / sum(b.mass for b in moving))


def centroidal(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Momentum (6) about the centre of mass, and its matrix (6, nv)."""
    moving, A, h = bodies(model, q, v), np.zeros((6, model.nv)), np.zeros(6)
    centre, _ = _centre(moving)
    for b in moving:
        arm, p = cross_matrix(b.at.p - centre), b.mass * b.at.velocity
        A = A + below(b.mass * b.linear, b.rotational @ b.angular + b.mass * arm @ b.linear)
        h = h + end_to_end(p, apply(b.rotational, b.at.angular_velocity) + apply(arm, p))
    return h, A


def centroidal_bias(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """The rate of centroidal momentum (6) at zero joint acceleration."""
    moving, rate = bodies(model, q, v), np.zeros(6)
    centre, _ = _centre(moving)
    for b in moving:
        w, force = b.at.angular_velocity, b.mass * b.acceleration
        moment = apply(b.rotational, b.angular_acceleration) + cross(w, apply(b.rotational, w))
        rate = rate + end_to_end(force, moment + cross(b.at.p - centre, force))
    return rate


def energy(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Kinetic energy, armatures included, and potential energy."""
    robot, moving = loops.closed(model, q), bodies(model, q, v)
    rates = apply(robot.G, numbers(v))
    twice = (rates * dynamics.armature(robot.tree) * rates).sum(axis=-1)
    for b in moving:
        w, speed = b.at.angular_velocity, b.at.velocity
        twice = twice + b.mass * (speed * speed).sum(axis=-1) + (w * apply(b.rotational, w)).sum(axis=-1)
    return np.asarray(twice / 2), np.asarray(-sum(b.mass * b.at.p for b in moving) @ np.array(model.gravity))


def bias(
    model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | None = None, *, external: Sequence[str] = ()
) -> Array:
    """Joint forces (nv) at zero joint acceleration."""
    return loops.rnea(model, q, v, np.zeros(model.nv), f_ext, external=external)


def gravity(model: Model, q: ArrayLike) -> Array:
    """Joint forces (nv) at rest."""
    return bias(model, q, np.zeros(model.nv))


def jdot_v(model: Model, q: ArrayLike, v: ArrayLike, *, frames: Sequence[str]) -> Array:
    """Classical accelerations (k, 6) of frames at zero joint acceleration."""
    return frame_accelerations(model, q, v, np.zeros(model.nv), frames=frames)


def frame_accelerations(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, frames: Sequence[str]) -> Array:
    """Classical accelerations (k, 6) of frames."""
    robot = loops.closed(model, q)
    rates = apply(robot.G, numbers(v))
    a_s = apply(robot.G, numbers(a)) + robot.g(rates)
    moving = kinematics.motions(robot.tree, robot.q, rates)
    at = [kinematics.frame_motion(robot.tree, moving, model.frame(name)) for name in frames]
    linear = [m.acceleration + apply(m.linear, a_s) for m in at]
    angular = [m.angular_acceleration + apply(m.angular, a_s) for m in at]
    return np.concatenate([np.stack(linear, axis=-2), np.stack(angular, axis=-2)], axis=-1)


def regressor(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Joint forces (nv) by [m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] of every body, in its frame and about its origin."""
    robot, Y = loops.closed(model, q), []
    rates, Gt = apply(robot.G, numbers(v)), transposed(robot.G)
    a_s = apply(robot.G, numbers(a)) + robot.g(rates)
    for at in kinematics.motions(robot.tree, robot.q, rates):
        w, wdot = at.angular_velocity, at.angular_acceleration + apply(at.angular, a_s)
        lifted = at.acceleration + apply(at.linear, a_s) - np.array(model.gravity)
        for m, h, moment in _unit_inertias():
            arm, inertia = apply(at.R, h), at.R @ moment @ transposed(at.R)
            force = m * lifted + cross(wdot, arm) + cross(w, cross(w, arm))
            turning = cross(arm, lifted) + apply(inertia, wdot) + cross(w, apply(inertia, w))
            Y.append(apply(Gt, apply(transposed(at.linear), force) + apply(transposed(at.angular), turning)))
    return np.stack(Y, axis=-1)


def _unit_inertias() -> list[tuple[float, Array, Array]]:
    """Mass, first moment and rotational inertia, one number of which is one."""
    still, nothing = np.zeros(3), np.zeros((3, 3))
    products = [np.zeros((3, 3)) for _ in range(6)]
    for moment, (r, c) in zip(products, ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)), strict=True):
        moment[r, c] = moment[c, r] = 1.0
    firsts = [(0.0, axis, nothing) for axis in np.eye(3)]
    return [(1.0, still, nothing), *firsts, *((0.0, still, moment) for moment in products)]


def coriolis(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """C (nv, nv): the sum of m J' Jdot over all points of the robot; Jdot by differences along the motion."""
    v, C, robot = numbers(v), np.zeros((model.nv, model.nv)), loops.closed(model, q)

    def jacobians(dt: Array) -> Array:
        after = loops.integrate(model, q, dt * v)
        moving = bodies(model, after)
        return below(*(b.linear for b in moving), *(b.angular for b in moving), loops.closed(model, after).G)

    rates, n = many_differences(jacobians, 1)[..., 0], len(model.bodies)
    linear, angular, rotors = np.split(rates, [3 * n, 6 * n])
    for b, Jdot, turned in zip(bodies(model, q, v), np.split(linear, n), np.split(angular, n), strict=True):
        second = np.trace(b.rotational) / 2 * np.eye(3) - b.rotational
        turning = b.rotational @ turned - cross_matrix(b.at.angular_velocity) @ second @ b.angular
        C += b.mass * b.linear.T @ Jdot + b.angular.T @ turning
    return np.asarray(C + robot.G.T @ (dynamics.armature(robot.tree)[:, None] * rotors))


def fk_derivatives(model: Model, q: ArrayLike, v: ArrayLike, *, frames: Sequence[str]) -> tuple[Array, ...]:
    """Velocities of frames by q and v (k, 6, nv)."""
    return _changes(lambda *state: loops.fk(model, *state, frames=frames)[2], model, q, v)


def frame_acceleration_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, frames: Sequence[str]
) -> tuple[Array, ...]:
    """Accelerations of frames by q, v and a (k, 6, nv)."""
    return _changes(lambda *state: frame_accelerations(model, *state, frames=frames), model, q, v, a)


def centroidal_derivatives(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, ...]:
    """The rate of centroidal momentum (6), momentum by q, and the rate by q, v and a (6, nv)."""

    def both(q: Array, v: Array, a: Array) -> Array:
        h, A = centroidal(model, q, v)
        return end_to_end(h, apply(A, a) + centroidal_bias(model, q, v))

    (dh_dq, dhdot_dq), (_, dhdot_dv), (_, A) = (np.split(x, 2) for x in _changes(both, model, q, v, a))
    return both(*(np.asarray(x, float) for x in (q, v, a)))[6:], dh_dq, dhdot_dq, dhdot_dv, A


def _changes(function: Callable[..., Array], model: Model, *state: ArrayLike) -> tuple[Array, ...]:
    """Derivatives of a function of q, v (and a) by each: by q along the tangents of the configuration manifold."""
    q, *rest = (np.asarray(x, float) for x in state)
    chosen, (by_q, by_rates) = np.eye(len(rest)), slopes(analytic(model))
    return by_q(lambda d: function(integrate(model, q, d), *rest), model.nv), *(
        by_rates(lambda d, own=own: function(q, *(x + n * d for x, n in zip(rest, own, strict=True))), model.nv)
        for own in chosen
    )
