"""Common factors in sums: fewer operations, the same values."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from thorough import besides

import codegen
from codegen.api import graphs
from codegen.ir.counting import count
from codegen.ir.graph import Graph, Port, from_casadi
from codegen.ir.interpreter import interpret
from codegen.passes import DEFAULT, ORDER, drop_dead, factor_sums, fold_constants, run

a, b, c, d, e = (casadi.SX.sym(name) for name in "abcde")


def graph_of(*results: casadi.SX) -> Graph:
    function = casadi.Function("f", [a, b, c, d, e], [casadi.vertcat(*results)], {"live_variables": False})
    return from_casadi(function, tuple(Port(name, (1,)) for name in "abcde"), (Port("y", (len(results),)),), "f")


@pytest.mark.parametrize(
    ("results", "before", "after"),
    [
        ((a * b + a * c,), 3, 2),
        ((a * b - c * a,), 3, 2),
        ((e - (a * b + c * a),), 4, 3),
        ((a * b + a * c + d * b + e,), 6, 5),
        ((a * b + a * c + d * b + d * e,), 7, 5),
        ((3.0 * a - 3.0 * b + c,), 4, 3),
        ((c - a * b - a * d - a * e,), 6, 4),
        ((a * b + a * c, casadi.sin(a * b)), 5, 4),  # somebody else wants the product
        ((a * b + d * c,), 3, 3),
        ((3.0 * a + c + -3.0 * b,), 4, 3),  # a constant of the other sign
        ((c - 0.1 * a - -0.1 * b,), 4, 3),
        (((a + 0.25) + (b + 0.5),), 3, 2),  # constants of a sum
        (((a - 0.25) - (b + 0.5),), 3, 2),
    ],
)
def test_operations_before_and_after(results, before, after):
    graph = graph_of(*results)
    factored = run(graph, (fold_constants, factor_sums, drop_dead), ())
    assert (count(graph).total, count(factored).total) == (before, after)
    numbers = [np.array([x]) for x in (1.25, -0.5, 3.0, 0.75, -2.0)]
    assert np.allclose(interpret(factored, *numbers)[0], interpret(graph, *numbers)[0], rtol=1e-15, atol=1e-15)
    assert factor_sums(factored) is factored


@pytest.mark.parametrize(
    ("robot", "algorithm", "saved"), besides([("go1", "aba", 30)], [("talos", "aba", 140), ("go1", "aba", 30)])
)
def test_robots_have_common_factors(robot, algorithm, saved):
    graph, emitted = graphs(codegen.load(robot), algorithm)
    without = run(graph, *(tuple(step for step in steps if step is not factor_sums) for steps in (DEFAULT, ORDER)))
    assert count(emitted).total <= count(without).total - saved


@pytest.mark.parametrize(("robot", "algorithm", "saved"), besides([], [("talos", "aba", 30), ("go1", "aba_osim", 6)]))
def test_shared_pairs_leave_factors_in_common(robot, algorithm, saved):
    graph, emitted = graphs(codegen.load(robot), algorithm)
    once = run(graph, order=tuple(step for step in ORDER if step is not factor_sums))
    assert count(emitted).total <= count(once).total - saved
