"""Pairs of terms that sums share: fewer operations, the same values but for rounding."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from drawn_graphs import graphs
from graph_cases import everything
from hypothesis import assume, given, settings
from thorough import besides

import codegen
from codegen.ir.counting import count
from codegen.ir.graph import Graph, Port, from_casadi, verify
from codegen.ir.interpreter import interpret
from codegen.passes import fold_constants, run, share_pairs

a, b, c, d, e = (casadi.SX.sym(name) for name in "abcde")


def graph_of(*results: casadi.SX) -> Graph:
    function = casadi.Function("f", [a, b, c, d, e], [casadi.vertcat(*results)], {"live_variables": False})
    return from_casadi(function, tuple(Port(name, (1,)) for name in "abcde"), (Port("y", (len(results),)),), "f")


@pytest.mark.parametrize(
    ("results", "before", "after"),
    [
        (((a + c) + b, (a + d) + b), 4, 3),
        (((c - a) - b, (a + d) + b), 4, 3),  # of the other sign
        (((a + c) - b, (b + d) - a), 4, 3),
        ((a + b, (a + c) + b, (b - d) + a), 5, 3),  # the pair alone is one of the sums
        ((b - a, (a + c) - b), 3, 2),  # and may be there the other way round
        (((a + c) + (b + d), (a + e) + (b + d), (d + c) + (a - e)), 9, 6),  # pairs of pairs
        (((a - c) - b, (d - c) - b, (e - b) - c), 6, 4),  # no sum begins with what is subtracted
        ((a - c, d - c), 2, 2),
        ((a - b, casadi.sin(c), (a + c) - d), 4, 4),
    ],
)
def test_operations_before_and_after(results, before, after):
    graph = graph_of(*results)
    shared = verify(share_pairs(graph))
    assert (count(graph).total, count(shared).total) == (before, after)
    numbers = [np.array([x]) for x in (1.25, -0.5, 3.0, 0.75, -2.0)]
    assert np.allclose(interpret(shared, *numbers)[0], interpret(graph, *numbers)[0], rtol=1e-15, atol=1e-15)
    assert share_pairs(shared) is shared


@settings(max_examples=300, deadline=None)
@given(graph=graphs(operations=("add", "sub", "mul", "neg"), longest=40))
def test_pairs_change_the_last_places_only(graph: Graph) -> None:
    x = np.array([0.73, -1.31, 1.42])
    graph = fold_constants(graph)
    after = verify(share_pairs(graph))
    assert count(after).total <= count(graph).total
    before = interpret(everything(graph), x)[0]
    scale = np.abs(before[np.isfinite(before)]).max(initial=1.0)
    assume(scale < 1e100)
    np.testing.assert_allclose(interpret(after, x)[0], interpret(graph, x)[0], rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.parametrize(
    ("robot", "algorithm", "saved"),
    besides([("go1", "crba", 15)], [("talos", "ltl", 280), ("talos", "aba", 80), ("go1", "crba", 15)]),
)
def test_robots_have_common_pairs(robot, algorithm, saved):
    before = run(codegen.graphs(codegen.load(robot), algorithm)[0], order=())
    assert count(share_pairs(before)).total <= count(before).total - saved
