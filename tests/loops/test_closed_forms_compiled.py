"""Closed forms of loops as compiled C: in single precision, and with Jacobians of all joints by CasADi's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from thorough import besides

import codegen
from codegen.oracle import loops as oracle

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from codegen.robot import Robot

    Array = NDArray[np.float64]

ROBOTS = ("four_bar", "six_bar", "planar_leg_linkage", "cassie", "tello_humanoid")
STATES, NEAR, STEP = 20, 0.02, 1e-6
SINGLE = 2e-5  # of angles and metres; float32 carries 6e-8, which linkages magnify


def drawn(robot: Robot) -> tuple[Array, Array, Array]:
    """Closed configurations, the same with dependent joints moved, and steps."""
    rng = np.random.default_rng(2)
    q = np.array([robot.random(rng)[0] for _ in range(STATES)])
    follows = np.ones(robot.nq, bool)
    for place, rate in zip(robot.q_slices, robot.v_slices, strict=True):
        follows[place] = rate.stop == rate.start
    return q, q + follows * rng.uniform(-NEAR, NEAR, q.shape), NEAR * rng.standard_normal((STATES, robot.nv))


@pytest.mark.parametrize("name", besides(["four_bar"], ROBOTS))
def test_single_precision_closes_loops(name: str) -> None:
    robot = codegen.load(name)
    q, guess, dv = drawn(robot)
    project, integrate = (codegen.build(robot, algorithm, dtype="float32") for algorithm in ("project", "integrate"))
    closed, residual = project(guess.astype(np.float32))
    assert closed.dtype == np.float32
    assert residual.max() < SINGLE
    assert np.abs(closed - q).max() < SINGLE
    expected = np.array([oracle.integrate(robot, *one) for one in zip(q, dv, strict=True)])
    assert np.abs(integrate(q.astype(np.float32), dv.astype(np.float32)) - expected).max() < SINGLE


@pytest.mark.parametrize("name", besides(["four_bar"], ROBOTS[:3]))
def test_jacobians_of_dependent_joints_are_those_of_newtons_method(name: str) -> None:
    """Differences of the dense oracle, in which Newton's method closes the loops."""
    robot = codegen.load(name)
    (q, *_), (guess, *_), (dv, *_) = drawn(robot)
    cases: dict[str, tuple[Callable[..., Array], tuple[Array, ...]]] = {
        "project": (lambda x: oracle.project(robot, x)[0], (guess,)),
        "integrate": (lambda step: oracle.integrate(robot, q, step), (dv,)),
    }
    for algorithm, (function, (x,)) in cases.items():
        made = codegen.to_casadi(robot, algorithm)
        last = made.name_in()[-1]
        jacobian = made.factory("J", made.name_in(), [f"jac:{made.name_out(0)}:{last}"])
        found = np.array(jacobian(*(() if algorithm == "project" else (q,)), x))
        steps = STEP * np.eye(len(x))
        expected = np.array([(function(x + step) - function(x - step)) / (2 * STEP) for step in steps]).T
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
