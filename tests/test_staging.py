"""Iterative algorithms in stages: the three graphs around a loop do what the unrolled graph does."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from thorough import besides

import codegen
from codegen import passes
from codegen.algorithms import ALGORITHMS
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.ir.staging import Staged, staged
from codegen.model import Model
from codegen.tracing.task import Task
from codegen.tracing.trace import trace, trace_iteration

PROXIMAL = tuple(name for name, entry in ALGORITHMS.items() if entry.iterates and entry.group == "constrained")


@pytest.fixture(scope="module")
def quadruped() -> Model:
    return codegen.load("solo12")


def feet(robot: Model, rows: int = 3) -> tuple[codegen.Contact, ...]:
    return tuple(robot.contact(f"{leg}_FOOT", rows) for leg in ("FL", "FR", "HL"))


@cache
def stages(task: Task) -> Staged:
    return staged(passes.run(trace_iteration(task)))


@pytest.mark.parametrize("algorithm", besides(["constrained_aba"], PROXIMAL))
def test_stages_around_a_loop_equal_the_unrolled_graph(quadruped: Model, algorithm: str) -> None:
    """Four iterations, one by one and unrolled."""
    task = Task(quadruped, algorithm, contacts=feet(quadruped), iterations=4)
    parts, state = stages(task), quadruped.random(1)
    work, at = interpret(parts.prepare, *state)
    for _ in range(task.iterations - 1):
        at, _ = interpret(parts.step, work, at)
    for found, expected in zip(interpret(parts.finish, work, at), interpret(trace(task), *state), strict=True):
        assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()


@pytest.mark.parametrize("algorithm", besides(["tree_kkt"], PROXIMAL))
def test_the_residual_falls_from_step_to_step(quadruped: Model, algorithm: str) -> None:
    """Each step reports what the contacts lacked before it: less and less."""
    parts = stages(Task(quadruped, algorithm, contacts=feet(quadruped)))
    work, at = interpret(parts.prepare, *quadruped.random(2))
    residuals = []
    for _ in range(3):
        at, lack = interpret(parts.step, work, at)
        residuals.append(float(lack[0]))
    assert residuals[0] > 10 * residuals[1] > 100 * residuals[2]


@pytest.mark.thorough
def test_a_step_of_constrained_aba_touches_supporting_nodes_only(quadruped: Model) -> None:
    """The step costs the same however many joints carry no contact, and far less than the start."""
    held = (quadruped.contact("FL_FOOT", 3),)
    parts = stages(Task(quadruped, "constrained_aba", contacts=held))
    more = stages(
        Task(codegen.load("talos"), "constrained_aba", contacts=(codegen.load("talos").contact("head_2_link", 3),))
    )
    assert count(parts.step).total < 0.25 * count(parts.prepare).total
    assert count(more.step).total < 0.1 * count(more.prepare).total


def test_what_does_not_iterate_has_no_stages(quadruped: Model) -> None:
    with pytest.raises(codegen.RobotError, match="does not iterate"):
        trace_iteration(Task(quadruped, "pv", contacts=feet(quadruped)))
