"""Signs of values: fewer negations, the same values."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from drawn_graphs import PRODUCTS, graphs
from hypothesis import given
from test_factors import a, b, c, d, e, graph_of

import codegen
from codegen.ir.counting import count
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT
from codegen.passes import DEFAULT, drop_dead, fold_constants, run, spare_negations
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

x = a * b + c * d
y = (a - b) + (c - d)


def negations(graph):
    return sum(value.op == "neg" for value in graph.values)


@pytest.mark.parametrize(
    ("results", "before", "after"),
    [
        ((-((a - b) + (c - d)),), 1, 0),  # a sum with something to subtract
        ((-(3.0 * a + b),), 1, 0),  # a constant takes the sign
        ((-(a * b + c),), 1, 1),
        ((-((a - b) * (c + d)),), 1, 0),  # a factor takes it
        ((-casadi.sin(a - b) / (2.0 + c * d),), 1, 0),
        ((-x, -(x + e)), 2, 1),
        ((-x, 2.5 * x), 1, 1),
        ((-y, 2.5 * y), 1, 0),  # its other user takes any sign
        ((-y, y), 1, 1),  # wanted both ways
        ((-y, casadi.fabs(y)), 1, 0),
        ((-y, casadi.sqrt(y)), 1, 1),
        ((-(a / d + b / d), -(b / d + c / d), -(a / d + c / d)), 3, 0),  # 1 / d, for all three
    ],
)
def test_negations_before_and_after(results, before, after):
    graph = run(graph_of(*results), DEFAULT, ())
    spared = spare_negations(graph)
    assert (negations(graph), negations(spared)) == (before, after)
    assert count(graph).total - count(spared).total == before - after
    numbers = [np.array([value]) for value in (1.25, -0.5, 3.0, 0.75, -2.0)]
    assert np.allclose(interpret(spared, *numbers)[0], interpret(graph, *numbers)[0], 1e-15, 1e-15, equal_nan=True)
    assert negations(spare_negations(spared)) == after


def test_products_of_constants():
    """Both would take the sign: then it is there again."""
    values = (Value(INPUT, port=0, element=0), Value(INPUT, port=1, element=0), Value(CONST, constant=-3.0))
    values += (
        Value("mul", (2, 2)),
        Value("sub", (0, 3)),
        Value("sub", (0, 1)),
        Value("sub", (4, 5)),
        Value("neg", (6,)),
    )
    ports = (Port("a", (1,)), Port("b", (1,)))
    graph = Graph("f", ports, (Port("y", (2,)),), values, ((7, 4),))
    numbers = np.array([1.5]), np.array([0.25])
    assert np.array_equal(interpret(spare_negations(graph), *numbers)[0], interpret(graph, *numbers)[0])


@given(graphs((*PRODUCTS, "add", "sub", "sub", "neg", "cos", "sin", "sqrt")))
def test_any_graph(graph):
    folded = run(graph, (fold_constants, drop_dead), ())
    spared = spare_negations(folded)
    assert count(spared).total <= count(folded).total
    point = np.array([0.7, -1.3, 2.1])
    with np.errstate(all="ignore"):
        for one, other in zip(interpret(spared, point), interpret(folded, point), strict=True):
            assert np.allclose(one, other, rtol=1e-12, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize(
    ("robot", "algorithm", "contacts", "spared"),
    [
        pytest.param("talos", "fk_derivatives", (), 200, marks=pytest.mark.thorough),
        ("iiwa", "jacobian", (), 4),
        pytest.param(
            "atlas", "caba_osim", ("l_foot:6", "r_foot:6", "l_hand:6", "r_hand:6"), 200, marks=pytest.mark.thorough
        ),
    ],
)
def test_robots(robot, algorithm, contacts, spared):
    model = codegen.load(robot)
    held = tuple(codegen.model.contacts.contact_of(model, contact) for contact in contacts)
    graph = run(trace(Task(model, algorithm, contacts=held)), DEFAULT, ())
    assert negations(spare_negations(graph)) <= negations(graph) - spared
