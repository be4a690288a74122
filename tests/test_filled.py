"""Zeros of sparse matrices where functions are called: those that anything reads are set, and hardly any others."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compilers import COMPILERS
from graph_cases import header
from multiply_in_c import of_one_state
from test_rows_in_place import N, calling
from thorough import diagonal

from codegen.emission.emit import Style, emit_folder
from codegen.emission.filled import LINE, Filled, filled, spread
from codegen.emission.spec import ProductKernel
from codegen.ir.calls import GraphCall
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import INPUT
from codegen.ir.padded import padded
from codegen.ir.products import straight_line
from codegen.passes import drop_dead

if TYPE_CHECKING:
    from pathlib import Path

NUMBERS = np.linspace(-1.0, 2.0, 40)
DIRTY = "-ftrivial-auto-var-init=pattern"  # what C has not set is no number then


def test_lines_have_all_zeros_that_are_read() -> None:
    """The factor has a tenth of numbers: products read its zeros near these, the call those of what it takes."""
    function = calling(1)
    found = filled(function)
    assert {*found} == {f"{name}_" for name in ("strict", "x", "y", "scaled", "c0")}
    factor = found["strict_"]
    assert 0 < len(factor.lines) * LINE < N * N / 2
    assert all(0 <= line <= N * N - LINE for own in found.values() for line in own.lines)
    set_first = {k for line in factor.lines for k in range(line, line + LINE)}
    places = spread(function, function.graph)["strict"]
    assert 0 < len(set_first & {*places}) < len(places)


def test_numbers_that_calls_hand_on_are_set_as_a_whole() -> None:
    """They are no matrices, and no loop reads them."""
    function, carried = calling(1), Port("carried", (9,))
    graph, zero = function.graph, len(function.graph.values) - 1
    graph = replace(graph, outputs=(*graph.outputs, carried), results=(*graph.results, (zero,) * 9))
    end = Graph("end", (Port("in0", (9,)),), (Port("end", (1,)),), (Value(INPUT, port=0),), ((0,),))
    last = GraphCall(end, ("carried",), end.outputs)
    whole = replace(
        function, graph=graph, products=(*function.products, last), outputs=(*function.outputs, *end.outputs)
    )
    assert filled(whole)["carried_"] == Filled("carried_", 9)


def test_arrays_of_which_most_is_read_are_set_as_a_whole() -> None:
    (statement,) = Filled("x_", 12).statements("0")
    assert statement == "for (int k = 0; k < 12; ++k) x_[k] = 0;"
    table, loop = Filled("x_", 40, (0, 32)).statements("0")
    assert table == "static const int x_zeros[] = { 0, 32 };"
    assert loop == "for (int k = 0; k < 2; ++k) for (int j = 0; j < 8; ++j) x_[x_zeros[k] + j] = 0;"
    assert str(Filled("x_", 40, (0, 32))) == "x_: 2 lines"


@pytest.mark.parametrize(("compiler", "wide"), diagonal(COMPILERS, [True, False], most=1))
def test_nothing_else_is_read(tmp_path: Path, compiler: str, *, wide: bool) -> None:
    """What was not set would make results that are no numbers, with padded rows and with others."""
    if subprocess.run([compiler, DIRTY, "-x", "c", "-fsyntax-only", os.devnull], capture_output=True).returncode:
        pytest.skip(f"{compiler} has no {DIRTY}")
    function = calling(1).after(drop_dead)
    theirs = interpret(straight_line(function), NUMBERS)
    files = emit_folder(header(), (ProductKernel(padded(function) if wide else function),), Style())
    assert "strict_zeros" in files["arm_multiply.c"]
    got = of_one_state(files, "arm_multiply.c", tmp_path, compiler, (DIRTY,), NUMBERS, [x.size for x in theirs])
    np.testing.assert_allclose(got, np.concatenate([x.ravel() for x in theirs]), rtol=1e-12, atol=1e-12)
