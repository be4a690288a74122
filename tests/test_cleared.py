"""Long results with many zeros are cleared at once, when no input is left to read."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS, compiled, written
from graph_cases import header

import codegen
from codegen.emission import cleared
from codegen.emission.emit import Style, emit_folder
from codegen.emission.kernels import emit_kernel
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.operations import CONST, INPUT
from codegen.oracle import ORACLE
from codegen.pipeline import kernel
from codegen.task.header import header as header_of
from codegen.tracing.task import Task

if TYPE_CHECKING:
    from pathlib import Path


NAMES = ("x", "y", "z")


def graph_of(size: int, zeros: int) -> Graph:
    """A result of so many elements, the first of which are zero, and another of one element."""
    values = (Value(INPUT, port=0, element=0), Value("twice", (0,)), Value(CONST))
    result = tuple(2 if k < zeros else 1 for k in range(size))
    return Graph("g", (Port("x", (1,)),), (Port("y", (size,)), Port("z", (1,))), values, (result, (2,)))


def test_those_that_are_long_and_half_zeros() -> None:
    long = cleared.LONG
    found = cleared.cleared(graph_of(long, long // 2), NAMES)
    assert found.sizes == {"y": long}
    assert found.zeros == {f"y[{k}]" for k in range(long // 2)}
    assert str(found) == f"{long // 2} zeros of y"
    assert cleared.cleared(graph_of(long, long // 2 - 1), NAMES) == cleared.Cleared()
    assert cleared.cleared(graph_of(long - 1, long - 2), NAMES) == cleared.Cleared()
    assert cleared.cleared(graph_of(long, long // 2), NAMES, {"y[0]"}) == cleared.Cleared()


@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_input_may_lie_where_a_result_lies(tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of limbs in step; nothing is cleared before it is read, and nothing that is stored is cleared."""
    monkeypatch.setattr(cleared, "LONG", 100)
    monkeypatch.setattr(cleared, "SHARE", 0.3)
    robot = codegen.load("solo12")
    made = kernel(Task(robot, "crba"))
    files = emit_folder(header_of(robot, "arm", ()), (made,), Style())
    plain, in_step = files["arm_crba.c"].split("SIMD: limbs")
    assert ["ZEROS(&M[0], 324);" in text for text in (plain, in_step)] == [False, True]
    written(files, tmp_path)
    command = ["-std=c99", "-O2", *WARNINGS, "-shared", "-fPIC", "arm_crba.c", "-lm", "-o", "f.so"]
    compiled(compiler, tmp_path, *command)
    called = ctypes.CDLL(str(tmp_path / "f.so")).arm_crba
    for seed in range(3):
        q, _, _ = robot.random(seed)
        M = np.full(324, np.nan)
        M[: q.size] = q
        called(*[M.ctypes.data_as(ctypes.c_void_p)] * 2)
        np.testing.assert_allclose(M.reshape(18, 18), ORACLE["crba"](robot, q), rtol=0, atol=1e-12)


def test_it_takes_the_place_of_stores_here_and_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same operations."""
    made = kernel(Task(codegen.load("solo12"), "crba"))
    style = Style(small_vectors=True)
    before = emit_kernel(header(), made, style)
    monkeypatch.setattr(cleared, "LONG", 100)
    monkeypatch.setattr(cleared, "SHARE", 0.3)
    after = emit_kernel(header(), made, style)
    assert before.count == after.count
    few, many = (str(own.variants).count("ZEROS(&M[") for own in (after, before))
    assert few == 1 < many


@pytest.mark.skipif("gcc" not in COMPILERS or platform.machine() != "x86_64", reason="needs gcc for x86-64")
def test_gcc_stores_no_zeros_by_512_bits_for_processors_that_are_slow_with_them(tmp_path: Path) -> None:
    """Where it takes such registers by itself, functions without products of matrices have none."""
    known = subprocess.run(
        ["gcc", "-march=sapphirerapids", "-E", "-x", "c", os.devnull], capture_output=True, check=False
    )
    if known.returncode:
        pytest.skip("this gcc does not know the processor")
    codegen.generate(codegen.load("solo12"), ["crba", "jacobian"], tmp_path, prefix="arm")
    for name in ("crba", "jacobian"):
        compiled("gcc", tmp_path, "-std=c99", "-O2", "-march=sapphirerapids", "-S", f"arm_{name}.c", "-o", "made.s")
        text = (tmp_path / "made.s").read_text(encoding="utf-8")
        assert "%ymm" in text
        assert "%zmm" not in text
