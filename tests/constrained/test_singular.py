"""Redundant, contradicting and singular contacts: proximal algorithms reach the least-squares solution, never a NaN."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from scenarios import DUAL, PRIMAL, PUBLISHED, problem, with_corners, worst
from thorough import besides

import codegen
from codegen.ir.interpreter import interpret
from codegen.oracle import constrained
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

OURS = (*DUAL, *PRIMAL)
PROXIMAL = (*OURS, *PUBLISHED)
# multipliers without bound cost the dual ones digits
LOST = {**dict.fromkeys(PROXIMAL, 1e-6), **dict.fromkeys((*PRIMAL, "prox_ltls"), 1e-7)}


def at_rest(given):
    """The problem without velocities, so that the points of one foot do not contradict one another."""
    v = np.zeros_like(given.v)
    at = [constrained.equations(given.model, q, w, contacts=given.contacts) for q, w in zip(given.q, v, strict=True)]
    return type(given)(given.model, given.contacts, given.q, v, given.tau, tuple(at))


@cache
def redundant(robot, foot):
    """Four points on one foot, and a weld of the same foot: eighteen rows, six of them independent."""
    model, corners = with_corners(codegen.load(robot), foot)
    return problem(
        model, (*(model.contact(corner, 3) for corner in corners), model.contact(foot, 6)), 8, redundant=True
    )


FEET = [("iiwa", "lbr_iiwa_link_7"), ("talos", "left_sole_link"), ("tello_humanoid", "left-foot")]


@pytest.mark.parametrize(
    ("foot", "algorithm"),
    besides([(FEET[0], "tree_kkt"), (FEET[0], "constrained_aba")], [*product(FEET, PROXIMAL)]),
    ids=lambda part: part if isinstance(part, str) else part[0],
)
def test_four_points_and_a_weld_at_rest(foot, algorithm):
    """Feasible, and the multipliers are the smallest ones."""
    given = at_rest(redundant(*foot))
    a, lam = given.solved(algorithm)
    expected = given.expected()
    assert worst(a, expected[0]) < 1e-8
    assert worst(lam, expected[1]) < 1e-6
    assert np.abs(given.residual(a)).max() < 1e-8


@pytest.mark.parametrize(("robot", "foot"), besides(FEET[:1], FEET[:2]))
def test_pv_early_drops_rows_that_repeat_others(robot, foot):
    given = at_rest(redundant(robot, foot))
    assert worst(given.solved("pv_early")[0], given.expected()[0]) < 1e-8


@pytest.mark.parametrize(
    ("foot", "algorithm"),
    besides([(FEET[0], "prox_pv"), (FEET[0], "aba_prox_stiff")], [*product([FEET[0], ("atlas", "l_foot")], PROXIMAL)]),
    ids=lambda part: part if isinstance(part, str) else part[0],
)
def test_contradicting_targets(foot, algorithm):
    """Points of one foot are to fly apart: the accelerations settle where the rows' errors are smallest."""
    given = redundant(*foot)
    k = np.random.default_rng(3).standard_normal((8, given.rows))
    a, _ = given.solved(algorithm, k, parameters=("k",), iterations=8)
    expected, _ = given.expected(k)
    assert worst(a, expected) < LOST[algorithm]
    assert worst(given.residual(a, k), given.residual(expected, k)) < LOST[algorithm]


@pytest.mark.parametrize("algorithm", besides(["tree_kkt", "constrained_aba"], PROXIMAL))
def test_one_frame_held_twice_with_two_targets(algorithm):
    """Half way between the two."""
    model = codegen.load("iiwa")
    tool = model.contact("lbr_iiwa_link_7", 3)
    given = problem(model, (tool, tool), 8, redundant=True)
    k = np.tile([1.0, 2.0, 3.0, -1.0, 0.0, 5.0], (8, 1))
    a, _ = given.solved(algorithm, k, parameters=("k",))
    seen = k - given.residual(a, k)
    assert np.abs(seen[:, :3] - [0.0, 1.0, 4.0]).max() < 1e-6


@pytest.mark.parametrize("algorithm", besides(["aba_prox", "tree_kkt", "prox_ltls"], PROXIMAL))
def test_stretched_arm(algorithm):
    """Straight up, an arm cannot move its end along itself; along what it can, it follows."""
    model = codegen.load("iiwa")
    held = (model.contact("lbr_iiwa_link_7", 6),)
    q, v, tau = np.zeros(7), np.zeros(7), model.random(0)[2]
    at = constrained.equations(model, q, v, contacts=held)
    assert constrained.rank(at)[0] < 6
    k = np.array([0.3, -0.2, 0.5, 0.4, 0.1, -0.6])
    a, *_ = interpret(trace(Task(model, algorithm, contacts=held, parameters=("k",), iterations=12)), q, v, tau, k)
    expected, _ = constrained.solution(at, tau, k, np.zeros(6))
    assert worst(a[None], expected[None]) < LOST[algorithm]


@pytest.mark.parametrize("algorithm", ["pv_early", "pv_soft", *PROXIMAL])
def test_a_row_that_no_joint_can_follow(algorithm):
    """Along the axes of parallel hinges nothing moves: the row pushes in vain, and the rest goes on."""
    model = codegen.load("chain:5")
    given = problem(model, (model.contact("link4", np.eye(6)[[3, 5]]),), 6, redundant=True)
    a, lam = given.solved(algorithm)
    assert np.isfinite(lam).all()
    if algorithm != "pv_soft":
        assert worst(a, given.expected()[0]) < 1e-8


@pytest.mark.parametrize("algorithm", besides(["prox_pv"], PROXIMAL))
def test_more_steps_come_closer(algorithm):
    """Near a singular posture the first step is far off, and every further one closer."""
    model = codegen.load("iiwa")
    held = (model.contact("lbr_iiwa_link_7", 6),)
    q, v, tau = model.random(5)
    q[3] = 0.02  # almost stretched
    at = constrained.equations(model, q, v, contacts=held)
    expected, _ = constrained.solution(at, tau, np.zeros(6), np.zeros(6))
    errors = []
    for steps in (1, 3, 10, 40):
        a, *_ = interpret(
            trace(Task(model, algorithm, contacts=held, parameters=("mu",), iterations=steps)), q, v, tau, 1e4
        )
        errors.append(worst(a[None], expected[None]))
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 1e-2 * errors[0]
