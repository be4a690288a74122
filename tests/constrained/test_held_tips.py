"""Tips that one whole point or frame holds: swept along their carriers' axes, and nobody sees it but in the count."""

from __future__ import annotations

from itertools import product

import pytest
from casadi import SX
from mechanisms_cases import mechanism
from scenarios import HARD, PUBLISHED, TOLERANCE
from test_stated import GIVEN, compared
from thorough import besides
from trees import symbolic_tree

import codegen
from codegen import passes
from codegen.algorithms import ALGORITHMS
from codegen.ir.counting import count
from codegen.model.contacts import contact_of
from codegen.tracing.task import Task
from codegen.tracing.trace import trace


def tips(turns):
    """Whole points, frames and turns of bodies at tips, along their own and the world's axes, with gains."""
    model = mechanism(("revolute",) * 9, 0, base="floating", branching=0.5)
    carriers = {body.parent for body in model.bodies}
    first, second, third = (b for b in range(len(model.bodies)) if b not in carriers)
    return model, (
        model.contact(f"tool{first}", 3, axes="world", kp=2.0, kd=1.0),
        model.contact(f"tool{second}", 6, kp=3.0),
        model.contact(f"body{third}", turns, axes="world", spatial=True, kp=1.0)
        if turns
        else model.contact(f"body{third}", 3, points=[(0.1, -0.2, 0.05)], kd=2.0),
    )


@pytest.mark.parametrize(
    ("algorithm", "turns"),
    besides(
        [("pv", ""), ("aba_prox", "rx,ry,rz"), ("constrained_aba", "rx,ry,rz"), ("pv_soft", "rx,ry,rz")],
        [*product([*HARD, "pv_soft", *PUBLISHED], ["", "rx,ry,rz"])],
    ),
)
def test_tips_that_do_not_turn_their_axes(algorithm, turns):
    robot, contacts = tips(turns)
    parts = symbolic_tree(robot, SX.sym("q", robot.nq), contacts=contacts, turned=False, swept="both").contacts
    assert all(held.stated.turn is not None for held in parts)
    extra = ("lam0", "mu") if "mu" in ALGORITHMS[algorithm].inputs else ()
    allowed = 10 * TOLERANCE.get(algorithm, 1e-8)
    assert compared(robot, contacts, algorithm, (*GIVEN, *extra), iterations=12) < allowed


def test_compiled(build):
    robot, contacts = tips("")
    held = build(robot, "constrained_aba", contacts=contacts, parameters=GIVEN, iterations=8)
    assert compared(robot, contacts, "constrained_aba", GIVEN, run=held) < 1e-8


@pytest.mark.parametrize(
    ("robot", "feet", "algorithm", "saved"),
    besides(
        [("iiwa", ("lbr_iiwa_link_7:6",), "pv_early", 0.1)],
        [
            ("go1", ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3"), "aba_prox_stiff", 0.03),
            ("iiwa", ("lbr_iiwa_link_7:6",), "pv_early", 0.1),
            ("atlas", ("l_foot:6", "r_foot:6", "l_hand:6", "r_hand:6"), "prox_pv", 0.08),
        ],
    ),
)
def test_tips_that_do_not_turn_their_axes_save_operations(robot, feet, algorithm, saved):
    """Of tips that lead no joints, which would save more."""
    model = codegen.load(robot)
    contacts = tuple(contact_of(model, foot) for foot in feet)
    tasks = (
        Task(model, algorithm, contacts=contacts, without=("determined_joints", *others))
        for others in ((), ("contact_axes",))
    )
    found, before = (count(passes.run(trace(task))).total for task in tasks)
    assert found < (1 - saved) * before
