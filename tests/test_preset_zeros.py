"""Zeros of results may be the caller's: C compiled with a macro does not store them, and all else is the same."""

from __future__ import annotations

import ctypes
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS, compiled, written
from small_caches import small_caches
from thorough import chosen

import codegen
from codegen.api import task
from codegen.emission.emit import Style, emit_folder
from codegen.emission.kernels import emit_kernel
from codegen.emission.spec import Kernel
from codegen.pipeline import kernel
from codegen.task.header import header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from codegen.emission.spec import ProductKernel

    Array = np.ndarray

MARK = 7.0
PRESET, WIDE = "-DARM_ZEROS_PRESET", ("-march=native", "-DRIGIDC_512")
WAYS = ((), ("-DARM_PLAIN",), WIDE)
CASES = (
    ("solo12", "crba"),
    ("solo12", "rnea_derivatives"),
    ("solo12", "regressor"),
    ("solo12", "fk_derivatives"),
    ("solo12", "integrate_derivatives"),
    ("iiwa", "jacobian"),
    ("iiwa", "step_derivatives"),
    ("cassie", "rnea_derivatives"),
    ("talos", "crba"),
    ("talos", "rnea_derivatives"),
    ("atlas_shadow", "crba"),
)


def quick(compiler: str, way: Sequence[str], case: tuple[str, str]) -> bool:
    return compiler == COMPILERS[-1] and (case == CASES[0] or (case == CASES[1] and way == WIDE))


def made(robot: str, algorithm: str) -> tuple[Kernel | ProductKernel, Style, dict[str, str]]:
    """A kernel and its folder, with functions of many states."""
    model, style = codegen.load(robot), Style(lanes=4)
    own = kernel(task(model, algorithm))
    return own, style, emit_folder(header(model, "arm", ()), (own,), style)


def close(mine: Array, theirs: Array) -> None:
    """But for rounding: compilers may fuse other products and sums."""
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-14 * np.abs(theirs).max(initial=1.0))


def pointer(x: Array) -> ctypes.c_void_p:
    return x.ctypes.data_as(ctypes.c_void_p)


@pytest.mark.parametrize(("compiler", "way", "case"), chosen(quick, COMPILERS, WAYS, CASES))
def test_what_is_stored_is_the_same(tmp_path: Path, compiler: str, way: Sequence[str], case: tuple[str, str]) -> None:
    """The status, too, which may be a number; results that are not zero at first show what is not stored."""
    robot, algorithm = case
    own, _, files = made(robot, algorithm)
    assert PRESET.removeprefix("-D") in files["arm.h"]
    folder, name = written(files, tmp_path), f"arm_{algorithm}"
    found = {}
    for kind in ("", PRESET):
        library = f"arm{kind}.so"
        flags = ["-std=c99", "-O1", *WARNINGS, *way, *[kind] * bool(kind), "-shared", "-fPIC"]
        compiled(compiler, folder, *flags, f"{name}.c", "-lm", "-o", library)
        found[kind] = getattr(ctypes.CDLL(str(folder / library)), name)
    rng = np.random.default_rng(0)
    zeroed, marked = ([np.full(port.size, x) for port in own.outputs] for x in (0.0, MARK))
    model, whole = codegen.load(robot), []
    for seed in range(3):
        state = dict(zip(("q", "v", "a"), model.random(seed), strict=True))
        given = [np.ravel(state.get(port.name, rng.standard_normal(port.size))) for port in own.inputs]
        whole.append([np.full(port.size, np.nan) for port in own.outputs])
        for function, out in ((found[""], whole[-1]), (found[PRESET], zeroed), (found[PRESET], marked)):
            function(*map(pointer, (*given, *out)))
        for mine, theirs in zip(zeroed, whole[-1], strict=True):
            close(mine, theirs)
    kept = 0
    for port, mine, *others in zip(own.outputs, marked, *whole, strict=True):
        left = (mine == MARK) & ~np.all(np.array(others) == MARK, axis=0)
        assert not np.any(np.array(others)[:, left]), port.name
        close(mine[~left], others[-1][~left])
        kept += np.count_nonzero(left)
    assert kept


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Loops over columns for small robots, of which no cache holds lanes."""
    yield from small_caches(monkeypatch, 0)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("compiler", COMPILERS[-1:])
@pytest.mark.parametrize(("way", "cached"), [("aos", 1 << 21), ("aos", 0), ("soa", 0)])
@pytest.mark.parametrize(("algorithm", "alone"), [("crba", False), ("rnea_derivatives", True)])
def test_functions_of_many_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str, algorithm: str, alone: bool, way: str, cached: int
) -> None:
    """In lanes, and one after the other, whatever scratch memory holds; where a cache holds all results, or not."""
    monkeypatch.setattr("codegen.emission.spec.CACHED", cached)
    own, style, files = made("solo12", algorithm)
    model, n = codegen.load("solo12"), 7
    assert emit_kernel(header(model, "arm", ()), own, style).one_by_one(4) is alone
    folder, sources = written(files, tmp_path), [f"arm_{algorithm}.c", f"arm_{algorithm}_lanes.c"]
    compiled(
        compiler, folder, "-std=c99", "-O1", *WARNINGS, *WIDE, PRESET, "-shared", "-fPIC", *sources, "-lm", "-o", "f.so"
    )
    function = getattr(ctypes.CDLL(str(folder / "f.so")), f"arm_{algorithm}_{way}")
    states = [model.random(seed)[: len(own.inputs)] for seed in range(n)]
    given = [np.array(x) for x in zip(*states, strict=True)]
    arrays = [*given, *(np.zeros((n, port.size)) for port in own.outputs)]
    arrays = arrays if way == "aos" else [np.ascontiguousarray(x.T) for x in arrays]
    room = np.full(emit_kernel(header(model, "arm", ()), own, style).work(4), MARK)
    steps = [pair for x in arrays for pair in (pointer(x), ctypes.c_ssize_t(x.shape[1]))]
    function(ctypes.c_size_t(n), *steps, pointer(room))
    f = codegen.build(model, algorithm)
    for k, state in enumerate(states):
        one = f(*state)
        for many, theirs in zip(arrays[len(given) :], one if isinstance(one, tuple) else (one,), strict=True):
            mine = (many if way == "aos" else many.T)[k].reshape(theirs.shape)
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_only_c_with_such_zeros_tells_of_the_macro() -> None:
    """Portable C has no such macro."""
    files = made("iiwa", "rnea")[2]
    assert not [name for name, text in files.items() if "ZEROS_PRESET" in text and name != "arm_real.h"]


@pytest.mark.parametrize("compiler", COMPILERS[-1:])
def test_solvers_want_all_elements(tmp_path: Path, compiler: str) -> None:
    codegen.generate(codegen.load("iiwa"), ["rnea"], tmp_path, prefix="arm", interfaces=["casadi"])
    assert PRESET.removeprefix("-D") not in (tmp_path / "arm.h").read_text(encoding="utf-8")
    command = [compiler, PRESET, "-fsyntax-only", "arm_rnea.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "leave it out" in done.stderr
