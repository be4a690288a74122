"""Feedback of contacts against target poses and velocities in the generated code."""

from __future__ import annotations

import numpy as np
import pytest
from scenarios import TOLERANCE, worst
from test_stated import compared
from thorough import besides

import codegen
from codegen.ir.interpreter import interpret
from codegen.lowering.base_frame import based
from codegen.oracle import ORACLE
from codegen.oracle.stated import logarithm
from codegen.tracing.task import Task
from codegen.tracing.trace import trace


def test_targets_are_arguments_where_gains_need_them():
    robot, tool = codegen.load("iiwa"), "lbr_iiwa_link_7"

    def names(parameters=(), **options):
        task = Task(robot, "pv", contacts=(robot.contact(tool, **options),), parameters=parameters)
        return [port.name for port in task.signature[0]][3:]

    assert names() == []
    assert names(kd=2.0) == []
    assert names(rows=3, kp=1.0) == ["target_position"]
    assert names(rows=3, kp=1.0, points=[(0.1, 0, 0)]) == ["target_position", "target_rotation"]
    assert names(("kp", "kd", "target_velocity")) == [
        "kp",
        "kd",
        "target_position",
        "target_rotation",
        "target_velocity",
    ]


@pytest.mark.parametrize("given", [("target_velocity",), ("kd", "target_velocity")])
def test_points_of_a_frame_that_only_a_velocity_is_wanted_of(given):
    """No turn is wanted: points turn with the frame itself."""
    robot = codegen.load("iiwa", base="floating")
    tool = robot.contact("lbr_iiwa_link_7", 3, points=[(0.1, 0.07, -0.2)], kd=2.0)
    assert compared(robot, (tool,), "pv", given) < TOLERANCE["pv"]


def test_where_a_floating_base_starts_as_an_argument():
    """Targets are in the world, wherever the base's own frame, or the one that it is followed in, is placed."""
    robot, offset = codegen.load("atlas"), np.array([0.3, -0.2, 0.5])
    feet = (robot.contact("l_foot", 3, kp=3.0), robot.contact("r_foot", 3, axes="world", kp=1.0))
    assert based(robot, feet, joint_space=False, moves=True)
    q, v, tau = robot.random(1)
    target = np.random.default_rng(1).standard_normal((2, 3))
    task = Task(robot, "pv", contacts=feet, parameters=(f"offset:{robot.joint_names[0]}",))
    a, *_ = interpret(trace(task), q, v, tau, target, offset)
    given = {task.parameters[0]: offset, "target_position": target}
    expected = ORACLE["pv"](robot, q, v, tau, contacts=feet, parameters=given)
    assert worst(a[None], expected[0][None]) < TOLERANCE["pv"]


@pytest.mark.parametrize(("algorithm", "axes"), besides([("pv", "world")], [("constrained_aba", ""), ("pv", "world")]))
def test_feedback_leads_to_the_target(algorithm, axes):
    """Critically damped, from a pose away from it and moving: eight time constants leave little of the error."""
    robot, tool = codegen.load("iiwa"), "lbr_iiwa_link_7"
    contact = robot.contact(tool, 6, axes=axes, kp=100.0, kd=20.0)
    held = codegen.build(robot, algorithm, contacts=[contact])
    step = codegen.build(robot, "integrate")
    q, v = np.array([0.3, 0.6, -0.2, -1.2, 0.4, 0.8, 0.1]), np.full(7, 0.1)
    aside = np.array([0.1, -0.1, 0.05, 0.1, -0.1, 0.1, 0.2])
    p, R, _ = ORACLE["fk"](robot, q + aside, v, frames=[tool])
    errors = []
    for n in range(801):
        if n % 400 == 0:
            here, turned, _ = ORACLE["fk"](robot, q, v, frames=[tool])
            errors.append(np.abs(here - p).max() + np.abs(logarithm(turned[0] @ R[0].T)).max())
        a, _ = held(q, v, -20.0 * v, p, R)  # damped, so that the elbow stays slow
        v = v + 1e-3 * a
        q = step(q, 1e-3 * v)
    assert errors[0] > 0.05
    assert errors[1] < 0.15 * errors[0]
    assert errors[2] < 0.01 * errors[0]
