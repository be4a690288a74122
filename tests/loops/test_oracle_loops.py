"""The oracle for loops against what mechanics says: rates are derivatives of positions, power changes energy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from loop_mechanisms import mechanism
from mechanisms_cases import error
from numpy.typing import NDArray
from thorough import besides

import codegen
from codegen.model import Model
from codegen.oracle import ORACLE, manifold
from codegen.oracle.kinematics import motions
from codegen.oracle.loops import Closed, closed

Array = NDArray[np.float64]
SOON = ("four_bar", "chain12_belt", "parallel_chain_explicit_d10_l8", "random 0")
CASES = besides(SOON, [*SOON, "four_bar_branch_2_5", "tello_humanoid", "random 3", "random 6"])


@cache
def model_of(name: str) -> Model:
    """A bundled robot, or a mechanism with loops of every kind."""
    word, _, seed = name.partition(" ")
    return mechanism(int(seed), 6) if word == "random" else codegen.load(name)


def derivative(curve: Callable[[float], Array], h: float = 2e-3) -> Array:
    """The derivative of a smooth curve at zero, by central differences of order eight."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(c * (curve(k * h) - curve(-k * h)) for k, c in enumerate(weights, 1)) / h  # type: ignore[return-value]


def later(model: Model, q: Array, v: Array, t: float) -> Array:
    """The configuration after a time t: independent joints move at v, the others close the loops."""
    start = closed(model, q)
    rates = start.G @ v
    moved = np.array(q)
    for b, (place, span) in enumerate(zip(model.q_slices, start.tree.v_slices, strict=True)):
        if place.stop > place.start:
            joint = model.bodies[b].joint.type
            moved[place] = manifold.moved(joint, model.convention, q[place], t * rates[span])
    found, residual = ORACLE["project"](model, moved)
    assert residual < 1e-12
    return found


@pytest.mark.parametrize("name", CASES)
def test_rates_are_derivatives_of_positions_and_g_of_rates(name: str) -> None:
    model = model_of(name)
    q, v, _ = model.random(1)
    robot = closed(model, q)
    rates = robot.G @ v
    single = [place.start for b, place in enumerate(robot.tree.v_slices) if model.joints[b].nq == 1]
    places = [place.start for place in robot.tree.q_slices if place.stop - place.start == 1]
    slope = derivative(lambda t: closed(model, later(model, q, v, t)).q)
    assert error(slope[places], rates[single]) < 1e-9
    bend = derivative(lambda t: closed(model, later(model, q, v, t)).G @ v)
    assert np.abs(bend - robot.g(rates)).max() < 1e-8 * max(1.0, np.abs(rates).max() ** 2)


def energy(robot: Closed, rates: Array) -> float:
    """Kinetic and potential energy of the spanning tree, from velocities and not from M."""
    total = 0.0
    for body, frame, j in zip(robot.tree.bodies, motions(robot.tree, robot.q, rates), robot.tree.v_slices, strict=True):
        arm = frame.R @ body.inertia.com
        speed = frame.velocity + np.cross(frame.angular_velocity, arm)
        spin = frame.R.T @ frame.angular_velocity
        total += 0.5 * body.inertia.mass * speed @ speed + 0.5 * spin @ np.array(body.inertia.moment) @ spin
        total -= body.inertia.mass * np.asarray(robot.tree.gravity) @ (frame.p + arm)
        total += 0.5 * body.joint.armature * rates[j] @ rates[j]
    return total


@pytest.mark.parametrize("name", CASES)
def test_energy_changes_by_the_power_of_the_independent_joints(name: str) -> None:
    model = model_of(name)
    bodies = tuple(replace(body, joint=replace(body.joint, armature=0.01)) for body in model.bodies)
    model = replace(model, bodies=bodies)
    q, v, tau = model.random(2)
    a = ORACLE["aba"](model, q, v, tau)

    def energy_at(t: float) -> Array:
        robot = closed(model, later(model, q, v, t))
        return np.array(energy(robot, robot.G @ (v + t * a)))

    assert abs(derivative(energy_at) - tau @ v) < 1e-8 * np.abs(tau) @ np.abs(v) + 1e-9 * abs(energy_at(0.0))


@pytest.mark.parametrize("name", CASES)
def test_many_states_at_once_are_the_same_one_by_one(name: str) -> None:
    model = model_of(name)
    q, v, tau = (np.stack(column) for column in zip(*(model.random(seed) for seed in range(3)), strict=True))
    others = np.stack([model.random(seed)[0] for seed in range(3, 6)])
    for algorithm, inputs in (
        ("rnea", (q, v, tau)),
        ("aba", (q, v, tau)),
        ("crba", (q,)),
        ("efpa", (q,)),
        ("integrate", (q, 0.01 * v)),
        ("difference", (q, others)),
        ("energy", (q, v)),
        ("centroidal", (q, v)),
        ("centroidal_bias", (q, v)),
        ("frame_accelerations", (q, v, tau)),
        ("regressor", (q, v, tau)),
        ("pv_soft", (q, v, tau)),
    ):
        parameters = {"R": np.ones(6 * len(model.tips))} if algorithm == "pv_soft" else {}
        together = arrays(ORACLE[algorithm](model, *inputs, parameters=parameters))
        for n in range(3):
            alone = arrays(ORACLE[algorithm](model, *(x[n] for x in inputs), parameters=parameters))
            assert [error(x[n], y) < 1e-11 for x, y in zip(together, alone, strict=True)] == [True] * len(alone)


def arrays(outputs: object) -> tuple[Array, ...]:
    return outputs if isinstance(outputs, tuple) else (np.asarray(outputs),)


@pytest.mark.parametrize("name", besides(["planar_leg_linkage"], ["planar_leg_linkage", "six_bar", "cassie"]))
def test_random_configurations_close_loops_to_rounding(name: str) -> None:
    """More of Newton's method moves them no further, not even where residuals hide positions."""
    model = codegen.load(name)
    for seed in range(10):
        q = model.random(seed)[0]
        found, residual = ORACLE["project"](model, q)
        assert residual < 1e-14
        assert np.abs(found - q).max() < 1e-13
