"""Where long functions are cut: parts are short enough, and no other cuts leave less behind."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
from graph_cases import header, kernel
from hypothesis import given, settings
from hypothesis import strategies as st

import codegen
from codegen.compilation.compiler import compile_extension, toolchain
from codegen.compilation.runtime import load
from codegen.emission.emit import Style, emit_artifact
from codegen.emission.splitting import CALL, HUGE_PARTS, Lengths, cuts
from codegen.ir.interpreter import interpret

if TYPE_CHECKING:
    from pathlib import Path

LENGTH = 12

Spans = list[tuple[int, int, int]]


def cost(spans: Spans, chosen: tuple[int, ...]) -> int:
    return sum(CALL + sum(size for made, last, size in spans if made < cut <= last) for cut in chosen)


@st.composite
def spans(draw: st.DrawFn) -> Spans:
    return [(made, draw(st.integers(made, LENGTH - 1)), draw(st.integers(1, 4))) for made in range(LENGTH)]


@settings(max_examples=60, deadline=None)
@given(spans(), st.integers(3, LENGTH))
def test_no_other_cuts_leave_less(found: Spans, longest: int) -> None:
    chosen = cuts(found, LENGTH, longest)
    every = [
        places
        for number in range(LENGTH)
        for places in combinations(range(1, LENGTH), number)
        if all(b - a <= longest for a, b in pairwise((0, *places, LENGTH)))
    ]
    assert tuple(chosen) in every
    assert cost(found, tuple(chosen)) == min(cost(found, places) for places in every)


def test_short_functions_stay_whole() -> None:
    assert cuts([(0, 4, 1)], 5, 5) == []


def test_long_functions_are_cut_into_parts_of_bounded_length() -> None:
    length, longest = 10_007, 2000
    chosen = cuts([(k, min(k + 50 + k % 7, length - 1), 1) for k in range(length)], length, longest)
    assert all(0 < b - a <= longest for a, b in pairwise((0, *chosen, length)))


def test_a_part_may_be_of_greatest_length() -> None:
    """Only in the middle nothing is kept; cuts anywhere else would leave a hundred."""
    assert cuts([(0, 449, 100), (450, 899, 100)], 900, 450) == [450]


def test_parts_of_very_long_functions_are_longer() -> None:
    (huge, longer), lengths = HUGE_PARTS, Lengths()
    for length, longest in ((lengths.whole + 1, lengths.part), (huge, lengths.part), (huge + 1, longer)):
        ends = (0, *lengths.parts([], length), length)
        assert longest - longest // 10 < max(b - a for a, b in pairwise(ends)) <= longest
    assert not lengths.parts([], lengths.whole)


def test_functions_in_many_parts_compute_what_the_graph_says(tmp_path: Path) -> None:
    """Every value comes through the workspace as it was, though its slots are used again: alone, and in lanes."""
    robot = codegen.load("solo12")
    graph, tools = codegen.graphs(robot, "rnea")[1], toolchain()
    style = Style(lanes=tools.lanes(8), lengths=Lengths(60, 60))
    artifact, extension = compile_extension([emit_artifact(header(), kernel(graph), style)], tmp_path, tools)
    assert artifact.source.count("_part_") > 10
    function = load(artifact, tmp_path / extension)
    states = [np.array(column) for column in zip(*[robot.random(k) for k in range(9)], strict=True)]
    (expected,) = interpret(graph, *states)
    close = {"rtol": 0, "atol": 1e-13 * np.abs(expected).max()}
    np.testing.assert_allclose(function(*states), expected, **close)
    np.testing.assert_allclose([function(*state) for state in zip(*states, strict=True)], expected, **close)
