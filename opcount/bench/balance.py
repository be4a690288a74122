"""A balance problem for two optimisers and MuJoCo: Solo12 stands on four feet, sways its trunk, and is pushed.

Nodes obey forward dynamics with the feet held, and semi-implicit Euler. The cost is quadratic: half of weighted squares
of [difference(q_wanted, q); v - v_wanted], of u - u_wanted and of what leaves a friction pyramid, times the step; and
of the last state. There are no bounds: MuJoCo's torques saturate, and its feet slip.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import codegen
from codegen import ocp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.robot import Robot

    Array = NDArray[np.float64]

FEET, RADIUS, LIMIT = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"), 0.016, 2.7  # m, N m
NODES, STEP, PERIOD = 30, 0.02, 0.005  # steps of the horizon, their length (s), and that between two solves
DAMPING = 20.0  # how fast velocities of feet that are held vanish (1/s)
ANGLES = (0.0, 0.7, -1.4)  # of a leg
BY_Q, BY_V = [200.0] * 3 + [100.0] * 3 + [0.05] * 12, [5.0] * 3 + [2.0] * 3 + [0.05] * 12
STATE, CONTROL, CONE, LAST = np.array(BY_Q + BY_V), 0.1, 10.0, 0.2  # weights; LAST is that of the last state
MU = 0.6  # of the pyramid; MuJoCo has 0.8
RADIUS_SWAY, RATE = 0.02, 0.5  # of the trunk's circle (m, 1/s)
PUSHED, APART, LASTS, CALM = 1.0, 1.5, 0.1, 1.0  # first push, between two, length of one, until it should be over (s)
KP, KD = np.full(12, 3.0), np.full(12, 0.1)  # of joints between two plans


@cache
def robot() -> Robot:
    """Solo12 by Pinocchio's conventions."""
    return codegen.load("solo12")


@cache
def rest() -> Array:
    """The configuration in which it stands."""
    q = robot().neutral().copy()
    q[7:] = np.tile(ANGLES, 4)
    feet = codegen.build(robot(), "fk", frames=FEET)(q, np.zeros(robot().nv)).position
    q[2] += RADIUS - feet[:, 2].min()
    q[:2] -= feet[:, :2].mean(axis=0)
    return q


@cache
def holding() -> Array:
    """Torques with which it stands, if every foot carries a quarter of the weight."""
    here, nv = robot(), robot().nv
    weight = -sum(body.inertia.mass for body in here.bodies) * here.gravity[2]
    J = codegen.build(here, "jacobian", frames=FEET)(rest())
    gravity = codegen.build(here, "gravity")(rest())
    tau: Array = (gravity - np.einsum("fj->j", J[:, 2]) * weight / len(FEET))[nv - 12 :]
    return tau


def wanted(times: NDArray[Any]) -> tuple[Array, Array]:
    """Configurations (times x nq) and velocities (times x nv): the trunk on a circle that starts slowly."""
    q, v = np.tile(rest(), (times.size, 1)), np.zeros((times.size, robot().nv))
    angle, turn = 2 * np.pi * RATE * times, 2 * np.pi * RATE
    q[:, 0] += RADIUS_SWAY * (np.cos(angle) - 1)
    q[:, 1] += RADIUS_SWAY * np.sin(angle)
    v[:, 0], v[:, 1] = -RADIUS_SWAY * turn * np.sin(angle), RADIUS_SWAY * turn * np.cos(angle)
    return q, v


class Quadruped(ocp.Plant):
    """MuJoCo's robot, read by Pinocchio's conventions."""

    def __init__(self) -> None:
        feet = {foot: f'<geom name="{foot}" size="{RADIUS}" mass="0"/>' for foot in FEET}
        joints = [body.joint.name for body in robot().bodies[1:]]
        super().__init__(robot(), dict.fromkeys(joints, LIMIT), feet, losses=(0.002, 0.0), stick=0.8 * RADIUS)
        self.stand()

    def stand(self) -> None:
        """At rest where it should stand."""
        q = rest()
        self.put(np.concatenate([q[:3], q[[6, 3, 4, 5]], q[7:]]))

    @property
    def state(self) -> tuple[Array, Array]:
        """q with the quaternion's scalar last, and v with the base's linear velocity in its own axes."""
        q, v = super().state
        R = np.zeros(9)
        self._peer.mju_quat2Mat(R, q[3:7])
        v[:3] = R.reshape(3, 3).T @ v[:3]
        return np.concatenate([q[:3], q[[4, 5, 6, 3]], q[7:]]), v

    def fallen(self) -> bool:
        """Whether the trunk is close to the ground, or tilted by more than 60 degrees."""
        q, _ = self.state
        return bool(q[2] < 0.5 * rest()[2] or 1 - 2 * (q[3] ** 2 + q[4] ** 2) < 0.5)


@dataclass(frozen=True, slots=True)
class Run:
    """What a closed loop was like: what solves cost, errors of the trunk in calm times (m), pushes and falls."""

    spent: tuple[ocp.Spent, ...]
    errors: Array
    pushes: int
    recovered: int
    falls: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.recovered} of {self.pushes} pushes, {self.falls} falls"

    @property
    def milliseconds(self) -> Array:
        return np.array([1e3 * one.total for one in self.spent])


def closed_loop(controller: Any, pushes: int, speed: float) -> Run:
    """A controller (`plan` and `restart`) on MuJoCo's robot; pushes change the velocity by `speed` (m/s)."""
    plant, rng, seconds = Quadruped(), np.random.default_rng(0), PUSHED + APART * pushes
    loop, spent, errors = ocp.Delayed(controller.plan, PERIOD), list[ocp.Spent](), list[float]()
    mass = sum(body.inertia.mass for body in robot().bodies)
    controller.restart(0.0, rest())
    loop.restart(0.0, *plant.state)
    number, force, falls = 0, np.zeros(3), dict[int, int]()
    for period in range(round(seconds / PERIOD)):
        now, (q, v) = period * PERIOD, plant.state
        made = loop.update(now, q, v)
        spent += [made] if made else []
        since = now - (PUSHED + APART * (number - 1))
        if number < pushes and (number == 0 or since >= APART) and now >= PUSHED:
            angle, number, since = rng.uniform(0, 2 * np.pi), number + 1, 0.0
            force = mass * speed / LASTS * np.array([np.cos(angle), np.sin(angle), 0.0])
        plant.push(robot().bodies[0].name, force * (number > 0 and since < LASTS - 1e-9))
        if (number == 0 and now > CALM / 2) or since > CALM:
            errors.append(float(np.linalg.norm(q[:3] - wanted(np.array([now]))[0][0, :3])))
        plant.step(PERIOD, lambda t, q, v: loop.current.torques(t, q, v, KP, KD))
        if plant.fallen():
            falls[number] = falls.get(number, 0) + 1
            plant.stand()
            controller.restart(now, rest())
            loop.restart(now + PERIOD, *plant.state)
    lost = sum(1 for number in falls if number)
    return Run(tuple(spent), np.array(errors), pushes, pushes - lost, sum(falls.values()), seconds)
