"""The balance of energy: joint forces, contacts and wrenches do the work that kinetic and potential energy gain.

Nothing here asks for an inertia matrix or a bias. Joints move at given rates and accelerations for a short time, each
along its own manifold; the energies of bodies and rotors on the way are differentiated by central differences of order
eight, and so are the loops, which have to stay closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from codegen.oracle import kinematics, manifold
from codegen.oracle.batches import apply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from codegen.model import Model
    from codegen.oracle.loops import Closed

    Array = NDArray[np.float64]

STEPS = np.arange(-4.0, 5.0)
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
SHORT = 4e-3  # rad or m, what the fastest joint moves in a step


class Balance(NamedTuple):
    """The power that energies gain, their size, and how fast loops open: second derivatives, of squared rates."""

    gained: float
    size: float
    opening: float


def balance(robot: Closed, v: Array, a: Array) -> Balance:
    """What energy does at a configuration, at joint velocities v and accelerations a (nv)."""
    rates = robot.G @ v
    accelerations = robot.G @ a + robot.g(rates)
    fastest = max(1.0, float(np.abs(rates).max(initial=0.0)), float(np.sqrt(np.abs(accelerations).max(initial=0.0))))
    times = STEPS * SHORT / fastest
    moving = moved(robot, rates, accelerations, times)
    at = np.concatenate([moving[b] for b in range(len(moving))], axis=-1)
    energies = energy(robot.tree, at, rates + times[:, None] * accelerations)
    gaps = [np.real(tie.residual(moving)) for tie in robot.tied]
    opening = max((float(np.abs(SECOND @ gap).max()) for gap in gaps), default=0.0) / times[5] ** 2
    return Balance(float(FIRST @ energies.sum(axis=1)) / times[5], float(np.abs(energies).sum()), opening / fastest**2)


def moved(robot: Closed, rates: Array, accelerations: Array, times: Array) -> Mapping[int, Array]:
    """The positions of every body's joint (times, nq of it) on the way."""
    found = {}
    for b, (body, place) in enumerate(zip(robot.tree.bodies, robot.tree.v_slices, strict=True)):
        ways = times[:, None] * rates[place] + times[:, None] ** 2 / 2.0 * accelerations[place]
        start, convention = robot.at[b], robot.tree.convention
        found[b] = np.stack([manifold.moved(body.joint.type, convention, start, way) for way in ways])
    return found


def energy(tree: Model, q: Array, rates: Array) -> Array:
    """Kinetic and potential energies (times, 3 per body): of a body's motion, of its height, of its rotor."""
    parts = []
    moving = kinematics.motions(tree, q, rates)
    for body, frame, place in zip(tree.bodies, moving, tree.v_slices, strict=True):
        arm = frame.R @ np.array(body.inertia.com)
        speed = frame.velocity + np.cross(frame.angular_velocity, arm)
        spin = apply(np.swapaxes(frame.R, -1, -2), frame.angular_velocity)
        turning = (spin * apply(np.array(body.inertia.moment), spin)).sum(axis=-1)
        parts.append(0.5 * (body.inertia.mass * (speed * speed).sum(axis=-1) + turning))
        parts.append(-body.inertia.mass * (frame.p + arm) @ np.array(tree.gravity))
        parts.append(0.5 * body.joint.armature * (rates[:, place] ** 2).sum(axis=-1))
    return np.stack(parts, axis=-1)


def of_wrenches(robot: Closed, v: Array, external: tuple[str, ...], f_ext: Array) -> float:
    """The power of external wrenches [force; moment] along their frames' axes."""
    moving, total = kinematics.motions(robot.tree, robot.q, robot.G @ v), 0.0
    for name, wrench in zip(external, f_ext, strict=True):
        at = kinematics.frame_motion(robot.tree, moving, robot.tree.frame(name))
        total += float(at.velocity @ at.R @ wrench[:3] + at.angular_velocity @ at.R @ wrench[3:])
    return total
