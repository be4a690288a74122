"""Functions whose arrays the caller may have in memory of its own."""

from __future__ import annotations

import ctypes
import re
from threading import Thread, stack_size
from typing import TYPE_CHECKING

import casadi
import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS, compiled

import codegen
from codegen.emission import given_memory

if TYPE_CHECKING:
    from pathlib import Path

FEET = ["FR_foot:3", "FL_foot:3"]


def library(folder: Path, *flags: str) -> str:
    """The path of the shared library of a folder's sources."""
    sources = [path.name for path in folder.glob("go1*.c")]
    compiled(COMPILERS[0], folder, *flags, "-O2", "-fPIC", "-shared", *sources, "-o", "go1.so", "-lm")
    return str(folder / "go1.so")


@pytest.mark.parametrize("backend", ["c", "c_portable"])
def test_the_caller_may_have_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    """Results are the same to the last bit wherever the memory begins, and a call takes so much less stack."""
    monkeypatch.setattr(given_memory, "MOST", 0)
    codegen.generate(codegen.load("go1"), ["pv_derivatives"], tmp_path, contacts=FEET, backend=backend)
    header = (tmp_path / "go1.h").read_text()
    told = {name: int(size) for name, size in re.findall(r"#define GO1_PV_DERIVATIVES_(\w+) (\d+)\n", header)}
    sizes = {way: [int(size) for size in re.findall(rf"\*   {way} +\w+\[(\d+)\]", header)] for way in ("in", "out")}
    given = [np.random.default_rng(k).standard_normal(size) for k, size in enumerate(sizes["in"])]
    made, results = ctypes.CDLL(library(tmp_path, *WARNINGS)), []
    for start in (None, 0, 1, 7):
        out, work = [np.full(size, np.nan) for size in sizes["out"]], np.full(told["MEMORY"] + 16, np.nan)
        call = made.go1_pv_derivatives if start is None else made.go1_pv_derivatives_in
        arrays = [*given, *out] if start is None else [work[start:], *given, *out]
        assert call(*(ctypes.c_void_p(array.ctypes.data) for array in arrays)) == 0
        begin = start or 0
        assert np.isnan(work[:begin]).all()
        assert np.isnan(work[begin + told["MEMORY"] :]).all()
        results.append(np.concatenate(out))
    assert np.isfinite(results[0]).all()
    assert all(np.array_equal(results[0], other) for other in results[1:])
    assert told["STACK"] - told["IN_STACK"] >= 8 * (told["MEMORY"] - given_memory.ALIGNED) - 64


def test_casadi_and_acados_give_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Solvers count the reals among those of their own, and results are the same as of arrays on the stack."""
    go1 = codegen.load("go1")
    known = codegen.to_casadi(go1, "aba", derivatives=1)
    monkeypatch.setattr(given_memory, "MOST", 0)
    codegen.generate(go1, ["aba"], tmp_path, interfaces=["casadi", "acados"], derivative_order=1)
    own = casadi.external("go1_aba_casadi", library(tmp_path))
    header = (tmp_path / "go1.h").read_text()
    reals = re.search(r"#define GO1_ABA_JACOBIAN_MEMORY (\d+)", header)
    assert reals
    q, v, tau, _ = (*go1.random(3), 0)
    jacobian = own.jacobian()
    assert jacobian.sz_w() - known.jacobian().sz_w() == int(reals[1])
    for one, other in zip(jacobian(q, v, tau, 0), known.jacobian()(q, v, tau, 0), strict=True):
        assert np.allclose(np.array(one), np.array(other), rtol=1e-12, atol=1e-12)
    assert re.search(r"n_w = \d+ \+ GO1_ABA_ACADOS_\w+_MEMORY", (tmp_path / "go1_aba_acados.c").read_text())


@pytest.mark.thorough
def test_hessians_of_humanoids_are_for_threads() -> None:
    """The Hessian of Talos by RK4 keeps 3 MB, which a thread with half a MB of stack has not."""
    talos = codegen.load("talos")
    step = codegen.to_casadi(talos, "step_rk4")
    hessian = casadi.external(f"jac_adj1_{step.name()}", step.library)
    found = list[casadi.DM]()
    given = [*talos.random(3), 0.001, *(0 for _ in range(hessian.n_in() - 4))]
    before = stack_size(2**19)
    try:
        thread = Thread(target=lambda: found.extend(hessian.call(given)))
        thread.start()
        thread.join()
    finally:
        stack_size(before)
    assert len(found) == hessian.n_out()
