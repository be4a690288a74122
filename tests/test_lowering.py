"""The steps of the lowering: each can be left out, none changes what comes out, and each saves operations somewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from mechanisms_cases import error
from thorough import besides

import codegen
from codegen.api import task
from codegen.errors import RobotError
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.lowering import ALL, LOWERING, checked
from codegen.oracle import ORACLE
from codegen.task.stages import STATED, stages
from codegen.tracing.trace import trace

if TYPE_CHECKING:
    from pathlib import Path

    from codegen.tracing.task import Task

FEET = ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3")
WORLD = tuple(f"{foot}:in=world" for foot in FEET)
SAVED = {  # of operations as written, where a step is at its best
    "reroot": ("go1", "pv_osim", FEET[:1], 0.1),
    "base_frame": ("go1", "pv_osim", FEET[:1], 0.03),
    "canonical_frames": ("iiwa", "aba", (), 0.15),
    "simplified_formulas": ("tello_humanoid", "project", (), 0.3),
    "closed_forms": ("six_bar", "integrate", (), 0.5),
    "regroup_inertias": ("iiwa", "rnea", (), 0.2),
    "determined_joints": ("go1", "pv", FEET, 0.15),
    "contact_axes": ("go1", "constrained_aba", WORLD, 0.02),
    "link_axes": ("go1", "crba", (), 0.08),
    "tip_axes": ("go1", "ltl", (), 0.02),
    "length_units": ("iiwa", "efpa", ("lbr_iiwa_link_7:6",), 0.015),
}


def stated(robot: str, algorithm: str, contacts: tuple[str, ...]) -> Task:
    """The task of a robot by its name."""
    return task(codegen.load(robot), algorithm, contacts=contacts or None)


SHORTENED = ("column_loops",)
"""Steps that make code shorter, not fewer operations (`test_column_loops`)."""


def test_every_step_that_can_be_left_out_is_measured() -> None:
    steps = checked((ALL,))
    assert tuple(SAVED) == tuple(step for step in steps if step not in SHORTENED)
    assert steps == tuple(step.name for step in LOWERING if step.plain)


@pytest.mark.parametrize("step", SAVED)
def test_a_step_saves_operations_and_changes_no_result(step: str) -> None:
    robot, algorithm, contacts, least = SAVED[step]
    with_it = stated(robot, algorithm, contacts)
    after, before = trace(with_it), trace(replace(with_it, without=(step,)))
    assert count(after).total < (1.0 - least) * count(before).total
    rng = np.random.default_rng(0)
    states = [with_it.model.random(rng) for _ in range(3)]
    known = dict(zip(("q", "v", "tau"), map(np.array, zip(*states, strict=True)), strict=True))
    inputs = [known.get(port.name, rng.standard_normal((3, *port.shape))) for port in after.inputs]
    for new, old in zip(interpret(after, *inputs), interpret(before, *inputs), strict=True):
        np.testing.assert_allclose(new, old, rtol=0.0, atol=1e-7 * max(1.0, np.abs(old).max()))


@pytest.mark.parametrize("robot", besides(["go1", "four_bar"], ["go1", "four_bar", "tello_humanoid"]))
def test_without_all_steps_results_are_right(robot: str) -> None:
    model = codegen.load(robot)
    graph = codegen.graphs(model, "aba", without=[ALL])[0]
    q, v, tau = model.random(3)
    assert error(interpret(graph, q, v, tau)[0], ORACLE["aba"](model, q, v, tau)) < 1e-9


@pytest.mark.parametrize("robot", besides(["iiwa"], ["iiwa", "go1"]))
def test_stages_begin_as_stated_and_end_as_emitted(robot: str) -> None:
    asked = stated(robot, "rnea", ())
    found = dict(stages(asked))
    written, emitted = codegen.graphs(codegen.load(robot), "rnea")
    assert list(found)[: 1 + len(checked((ALL,)))] == [STATED, *checked((ALL,))]
    assert found["length_units"] == count(written)
    assert list(found.values())[-1] == count(emitted)
    assert found[STATED].total > 1.1 * count(written).total


def test_steps_that_are_not_there_are_refused(tmp_path: Path) -> None:
    robot = codegen.load("iiwa")
    with pytest.raises(RobotError, match=r"there is no step 'rerot' .* did you mean reroot"):
        codegen.graphs(robot, "aba", without=["rerot"])
    with pytest.raises(RobotError, match="there is no step 'build_tree' of the lowering that can be left out"):
        codegen.build(robot, "aba", without=["build_tree"])
    with pytest.raises(RobotError, match="without must be a list of names"):
        codegen.generate(robot, ["rnea"], tmp_path, without="all")
