"""Many states of robots with many joints go one after the other, where lanes of them would fit into no cache."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS, compiled, written
from small_caches import small_caches
from thorough import diagonal

import codegen
from codegen.api import task
from codegen.emission.emit import emit_folder, emit_lanes
from codegen.emission.kernels import emit_kernel
from codegen.emission.spec import Style
from codegen.oracle import ORACLE
from codegen.pipeline import kernel
from codegen.task.header import header

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codegen.emission.emitted import Emitted

INVERSE = "rnea_derivatives"


def emitted(name: str, algorithm: str, style: Style) -> Emitted:
    robot = codegen.load(name)
    return emit_kernel(header(robot, name, ()), kernel(task(robot, algorithm)), style)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Loops over columns for a chain of ten, of which no cache holds lanes."""
    yield from small_caches(monkeypatch, 40)


@pytest.mark.usefixtures("small")
def test_it_depends_on_loops_and_on_how_long_results_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, algorithm, alone in [
        ("chain:10", INVERSE, True),
        ("chain:10", "aba_derivatives", True),
        ("chain:10", "regressor", False),
        ("chain:10", "crba", False),
        ("iiwa", INVERSE, False),
    ]:
        assert emitted(name, algorithm, Style(lanes=4)).one_by_one(4) is alone, algorithm
    assert not emitted("chain:10", INVERSE, Style()).one_by_one(1)
    own = emitted("chain:10", INVERSE, Style(lanes=16))
    monkeypatch.setattr("codegen.emission.spec.LANES_FIT", 16 * (own.span + own.workspace) - 1)
    assert emitted("chain:10", INVERSE, Style(lanes=16)).one_by_one(16)
    assert not emitted("chain:10", INVERSE, Style(lanes=8)).one_by_one(8)
    assert not emitted("chain:10", INVERSE, Style("float32", lanes=16)).one_by_one(16)


@pytest.mark.usefixtures("small")
def test_they_need_no_lanes() -> None:
    robot, style = codegen.load("chain:10"), Style(lanes=4)
    own = emitted("chain:10", INVERSE, style)
    assert own.work(4) == 16 + 4 * (3 * 16 + 3 * 112)  # each argument from a line of memory on
    assert own.many_stack(4, 8) == own.stack(8)
    assert "_WIDE" not in emit_lanes(header(robot, "chain:10", ()), own, style)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_many_states_are_those_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    """In rows, with gaps between them, and with one argument for all."""
    monkeypatch.setenv("RIGIDC_CACHE", str(tmp_path))
    robot = codegen.load("chain:10")
    f = codegen.build(robot, INVERSE, dtype=dtype)
    q, v, a = (np.array(x, dtype) for x in zip(*map(robot.random, range(11)), strict=True))
    wide = np.zeros((11, 15), dtype)
    wide[:, :10] = v
    for many, given in ((f(q, wide[:, :10], a), q), (f(q[0], v, a), np.tile(q[0], (11, 1)))):
        for k in range(11):
            for mine, theirs in zip(many, f(given[k], v[k], a[k]), strict=True):
                np.testing.assert_array_equal(mine[k], theirs)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("compiler", "way", "cached"), diagonal(COMPILERS, ["aos", "soa"], [3299, 1 << 21]))
def test_states_in_rows_and_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str, way: str, cached: int
) -> None:
    """More states than go at once, and a remainder; results that a cache holds, and such that are made there."""
    monkeypatch.setattr("codegen.emission.spec.CACHED", cached)
    robot, style, n = codegen.load("chain:10"), Style(lanes=4), 11
    made = kernel(task(robot, INVERSE))
    written(emit_folder(header(robot, "arm", ()), (made,), style), tmp_path)
    sources = ["arm_rnea_derivatives.c", "arm_rnea_derivatives_lanes.c"]
    assert f"if (n <= {cached // 300})" in (tmp_path / sources[1]).read_text(encoding="utf-8")
    compiled(compiler, tmp_path, "-std=c99", "-O1", *WARNINGS, "-shared", "-fPIC", *sources, "-lm", "-o", "arm.so")
    states = [robot.random(seed) for seed in range(n)]
    given = [np.array(x) for x in zip(*states, strict=True)]
    out = [np.zeros((n, 100)) for _ in range(3)]
    work = np.zeros(emit_kernel(header(robot, "arm", ()), made, style).work(4))
    arrays = [x if way == "aos" else np.ascontiguousarray(x.T) for x in (*given, *out)]
    steps = [x.shape[1] for x in arrays]
    pairs = [y for x, step in zip(arrays, steps, strict=True) for y in (pointer(x), ctypes.c_ssize_t(step))]
    getattr(ctypes.CDLL(str(tmp_path / "arm.so")), f"arm_rnea_derivatives_{way}")(
        ctypes.c_size_t(n), *pairs, pointer(work)
    )
    for k, state in enumerate(states):
        for many, theirs in zip(arrays[3:], ORACLE[INVERSE](robot, *state), strict=True):
            mine = (many if way == "aos" else many.T)[k].reshape(10, 10)
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


def pointer(x: np.ndarray) -> ctypes.c_void_p:
    return x.ctypes.data_as(ctypes.c_void_p)
