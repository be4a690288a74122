"""Nonzeros as loops: rectangles of a matrix are turned, other elements are found by a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS, compiled, output, written
from graph_cases import header
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import diagonal

from codegen.emission.emit import Style, emit_real
from codegen.emission.gathers import RUN, SQUARE, Gathered, Rectangle, Run, gathered

if TYPE_CHECKING:
    from pathlib import Path


def places_of(pattern: np.ndarray, step: int) -> list[int]:
    """Those of nonzeros, column by column."""
    return [
        int(row) * step + column for column in range(pattern.shape[1]) for row in np.flatnonzero(pattern[:, column])
    ]


def taken(own: Gathered, matrix: np.ndarray, size: int) -> np.ndarray:
    """The elements, by what its parts mean."""
    found, flat = np.full(size, np.nan), matrix.ravel()
    for first, to, rows, columns in own.rectangles:
        block = flat[first + np.arange(rows)[:, None] * own.step + np.arange(columns)]
        found[to : to + rows * columns] = block.T.ravel()
    for first, to, length in own.runs:
        assert np.isnan(found[to : to + length]).all()
        found[to : to + length] = flat[first : first + length]
    for to, at in own.others:
        assert np.isnan(found[to])
        found[to] = flat[at]
    return found


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_parts_are_all_elements_in_order(data: st.DataObject) -> None:
    rows, columns, more = (data.draw(st.integers(1, 12)) for _ in range(3))
    pattern, step = np.zeros((rows, columns), bool), columns + more
    for _ in range(data.draw(st.integers(0, 4))):
        top, left = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
        pattern[top : data.draw(st.integers(top, rows)), left : data.draw(st.integers(left, columns))] = True
    places, matrix = places_of(pattern, step), np.arange(float(rows * step)).reshape(rows, step)
    own = gathered(places, step)
    np.testing.assert_array_equal(taken(own, matrix, len(places)), matrix.ravel()[places])
    assert all(min(part.rows, part.columns) >= SQUARE for part in own.rectangles)
    assert all(run.length >= RUN for run in own.runs)


def test_full_columns_are_one_rectangle() -> None:
    pattern = np.ones((50, 50), bool)
    pattern[:, :3] = False
    own = gathered(places_of(pattern, 56), 56)
    assert own == Gathered(56, (Rectangle(3, 0, 50, 47),), (), ())
    assert str(own) == "1 rectangles, 0 runs and 0 elements"
    pattern[7, 10] = False
    own = gathered(places_of(pattern, 56), 56)
    assert [part.columns for part in own.rectangles] == [7, 39]
    assert len(own.others) == 49


def test_columns_of_transposes_are_runs() -> None:
    """Those of a matrix are rows of its transpose, of which what lies side by side is copied together."""
    pattern = np.zeros((50, 50), bool)
    pattern[:, 3:7] = pattern[6:9, 10:30] = pattern[9, 20] = True
    places = [int(row) * 56 + column for row in range(50) for column in np.flatnonzero(pattern[row])]
    own = gathered(places, 56)
    assert own.runs[:2] == (Run(3, 0, 4), Run(59, 4, 4))
    assert [run.length for run in own.runs] == [4] * 6 + [4, 20] * 3 + [4] * 41
    assert own.others == ((places.index(9 * 56 + 20), 9 * 56 + 20),)


@pytest.mark.parametrize(
    ("compiler", "flags"), diagonal(COMPILERS, [("-march=native",), ("-DARM_PLAIN",), ("-DARM_OWN",)])
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_compiled(tmp_path: Path, compiler: str, flags: tuple[str, ...], dtype: str) -> None:
    """By squares, runs, single numbers, and by lines that need no header; nothing beyond the ends is written."""
    pattern = np.zeros((11, 13), bool)
    pattern[2:9, 1:12] = pattern[10, 3:6] = pattern[0, 12] = True
    step, real = 14, "double" if dtype == "float64" else "float"
    places = [*places_of(pattern, step), *range(16, 25)]
    own, size = gathered(places, step), len(places)
    lines = own.lines() if "-DARM_OWN" in flags else own.lines("ARM_TURNED")
    text = [
        "#include <stdio.h>",
        '#include "arm_real.h"',
        "static void gather(const T *from, T *to)\n{",
        *lines,
        "}\nint main(void)\n{",
        f"T x[{11 * step}], y[{size + 2}];",
        f"for (int k = 0; k < {11 * step}; ++k) x[k] = ({real})k;",
        f"y[0] = y[{size + 1}] = -1;\ngather(x, y + 1);",
        f'for (int k = 0; k < {size + 2}; ++k) printf("%g\\n", (double)y[k]);\nreturn 0;\n}}\n',
    ]
    files = {
        "arm_real.h": emit_real(header(), Style(dtype)),
        "arm.h": f"#include <stddef.h>\n#define ARM_REAL {real}\n",
        "main.c": "\n".join(text),
    }
    written(files, tmp_path)
    compiled(compiler, tmp_path, "-std=c99", "-O2", *WARNINGS, *flags, "main.c", "-lm", "-o", "main")
    assert [float(x) for x in output(tmp_path / "main").split()] == [-1, *places, -1]
