"""Contacts in single precision: the numbers that are no arguments suit the type, and the header states them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from thorough import besides, diagonal

import codegen
from codegen.algorithms import ALGORITHMS, OPTIONAL, optional
from codegen.cli.check import relative_error
from codegen.ir.operations import CONST, INPUT, OPERATIONS
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE, constrained
from codegen.task.header_notes import folded
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

FEET = ("FL_FOOT:3", "FR_FOOT:3")
SOLES = ("left_sole_link:6", "right_sole_link:6")
DOG = tuple(f"{leg}_foot:3" for leg in ("FL", "FR", "RL", "RR"))
STIFF = ("constrained_aba", "aba_prox_stiff", "prox_ltls", "pv_soft", "caba_osim")


def in_single(graph, *arrays):
    """A graph's first output, every operation in float32."""
    known = []
    for value in graph.values:
        if value.op == CONST:
            known.append(np.float32(value.constant))
        elif value.op == INPUT:
            known.append(np.float32(np.ravel(arrays[value.port])[value.element]))
        else:
            known.append(np.float32(OPERATIONS[value.op].numpy(*[known[arg] for arg in value.args])))
    return np.array([known[place] for place in graph.results[0]], float).reshape(graph.outputs[0].shape)


def regular_states(model, contacts, number):
    """States at which no row is almost dependent, in numbers that single precision has."""
    for seed in range(100):
        state = [np.float32(x).astype(float) for x in model.random(seed)]
        if number and constrained.rank(constrained.equations(model, state[0], 0 * state[1], contacts=contacts))[1]:
            number -= 1
            yield state


def worst(robot, texts, algorithm, iterations):
    model = codegen.load(robot)
    contacts = tuple(contact_of(model, text) for text in texts)
    graph = trace(Task(model, algorithm, contacts=contacts, iterations=iterations, dtype="float32"))
    inputs = len(graph.inputs)
    numbers = {name: x for name, x in optional(model, "float32").items() if name in ALGORITHMS[algorithm].inputs}
    errors = []
    for state in regular_states(model, contacts, 3):
        expected = ORACLE[algorithm](model, *state[:inputs], contacts=contacts, parameters=numbers)
        found = in_single(graph, *state[:inputs])
        errors.append(relative_error(found, expected[0] if isinstance(expected, tuple) else expected))
    return max(errors)


@pytest.mark.parametrize(
    ("held", "algorithm"), diagonal([("iiwa", ("lbr_iiwa_link_7:6",)), ("solo12", FEET), ("go1", DOG)], STIFF)
)
def test_defaults_suit_the_type(held, algorithm):
    """Five steps, as `rigidc check` takes; at mu = 1e5 errors were up to 5, with 0.1 allowed."""
    assert worst(*held, algorithm, 5) < 3e-3 < ALGORITHMS[algorithm].tolerance.float32


@pytest.mark.parametrize(("robot", "contacts"), besides([("solo12", FEET)], [("solo12", FEET), ("talos", SOLES)]))
def test_three_steps_are_enough(robot, contacts):
    """As many as there are by default, of a dog and of a humanoid forty times as heavy."""
    assert worst(robot, contacts, "constrained_aba", 3) < 1e-2


def test_compiled():
    model = codegen.load("chain:3,alternate")
    held = [model.contact(model.tips[0], 3)]
    single, double = (
        codegen.build(model, "constrained_aba", contacts=held, dtype=dtype) for dtype in ("float32", "float64")
    )
    q, v, tau = model.random(0)
    assert relative_error(single(q, v, tau)[0].astype(float), double(q, v, tau)[0]) < 1e-3


def test_mu_follows_the_mass():
    """To one digit: a hundred times 2.5 kg, and 93 kg. Double precision takes the same for all."""
    assert optional(codegen.load("solo12"), "float32") == {**OPTIONAL, "mu": 300.0, "R": 1 / 300.0}
    assert optional(codegen.load("talos"), "float32")["mu"] == 9000.0
    assert optional(codegen.load("talos"), "float64") == OPTIONAL


def test_the_header_states_what_is_folded_in():
    solo12 = codegen.load("solo12")
    contacts = tuple(contact_of(solo12, foot) for foot in FEET)

    def said(algorithm, **options):
        return folded(Task(solo12, algorithm, contacts=contacts, **options))

    assert "mu = 100000, lam0 = 0. Proximal" in said("constrained_aba")
    assert said("constrained_aba", dtype="float32").startswith(
        "Not arguments: k = 0, mu = 300, lam0 = 0. mu suits single precision: 100 times the robot's mass, where double "
        "precision takes 100000. Proximal"
    )
    soft = said("pv_soft", dtype="float32")
    assert "R = 0.0033333333333333335. R suits single precision: one over 100 times the robot's mass" in soft
    assert "suits" not in said("constrained_aba", dtype="float32", parameters=("mu",))
    assert "suits" not in said("prox_pv", dtype="float64")


def test_the_example_takes_what_suits(tmp_path):
    """Where mu and tol are arguments, the example program has those of the type."""
    texts = {}
    for dtype in ("float32", "float64"):
        options = {"contacts": ["link2:3"], "parameters": ("mu",), "iterations": None, "dtype": dtype}
        chain = codegen.load("chain:3,alternate")
        codegen.generate(chain, ["constrained_aba"], tmp_path / dtype, **options)
        texts[dtype] = (tmp_path / dtype / "example.c").read_text(encoding="utf-8")
    mu = optional(chain, "float32")["mu"]
    assert re.search(rf"\b{mu:g}\b|\b{mu!r}", texts["float32"])
    assert "100000" in texts["float64"]
    assert "100000" not in texts["float32"]


def test_unknown_types_are_refused():
    with pytest.raises(codegen.RobotError, match="dtype 'float16': choose one of"):
        codegen.graphs(codegen.load("iiwa"), "aba", dtype="float16")
