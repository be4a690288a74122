"""Weights of rows: what gives way to what where rows contradict each other, and who carries where they agree."""

from __future__ import annotations

import numpy as np
import pytest
from scenarios import DUAL, PRIMAL, worst
from thorough import besides

import codegen
from codegen.ir.interpreter import interpret
from codegen.oracle import constrained
from codegen.tracing.task import Task
from codegen.tracing.trace import trace


@pytest.mark.parametrize("algorithm", besides(["tree_kkt", "aba_prox_stiff"], [*DUAL, *PRIMAL]))
def test_weights_of_rows_that_contradict(algorithm):
    """Twelve rows on seven joints settle at the weighted least squares."""
    robot, tool = codegen.load("iiwa"), "lbr_iiwa_link_7"
    held = (
        robot.contact(tool, 3),
        robot.contact(tool, 6, axes="world"),
        robot.contact("lbr_iiwa_link_4", 3, points=[(0.1, 0.2, 0.1)]),
    )
    q, v, tau = robot.random(1)
    rng = np.random.default_rng(0)
    k, weight = rng.standard_normal(12), 10.0 ** rng.uniform(-1, 1, 12)
    a, lam = interpret(
        trace(Task(robot, algorithm, contacts=held, parameters=("k", "weight"), iterations=12)), q, v, tau, k, weight
    )
    at = constrained.equations(robot, q, v, contacts=held)
    assert len(at.J) > np.linalg.matrix_rank(at.J, 1e-9) == 7
    root = np.sqrt(weight)
    best = np.linalg.lstsq(root[:, None] * at.J, root * (k - at.drift), rcond=None)[0]
    assert worst(a[None], best[None]) < 1e-6
    assert worst((at.M @ a + at.bias - tau)[None], (at.J.T @ lam)[None]) < 1e-6
    even = interpret(trace(Task(robot, algorithm, contacts=held, parameters=("k",), iterations=12)), q, v, tau, k)
    assert worst(a[None], even[0][None]) > 1e-2


@pytest.mark.parametrize("algorithm", besides(["prox_pv", "constrained_aba"], [*DUAL, *PRIMAL]))
def test_weights_of_redundant_rows(algorithm):
    """Where rows agree, accelerations are the same, and multipliers are least in the norm that the weights divide."""
    robot = codegen.load("solo12")
    foot = robot.contact("FL_FOOT", 3)
    held, weight = (foot, foot), np.repeat([1.0, 4.0], 3)
    given = robot.random(0)
    a, lam = interpret(
        trace(Task(robot, algorithm, contacts=held, parameters=("weight",), iterations=6)), *given, weight
    )
    once = interpret(trace(Task(robot, algorithm, contacts=(foot,), iterations=6)), *given)
    assert worst(a[None], once[0][None]) < 1e-8
    assert worst(lam[None], np.append(0.2 * once[1], 0.8 * once[1])[None]) < 1e-7
