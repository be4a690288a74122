"""Folders for JAX and PyTorch: their functions of batches, compiled from the sources alone."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS, compiled
from thorough import besides

import codegen
from codegen.errors import RobotError

if TYPE_CHECKING:
    from pathlib import Path

ARM, STATES = "chain:2", 5


def folder(path: Path, name: str, **options: int) -> None:
    codegen.generate(codegen.load(ARM), ("aba",), path, prefix="my", lanes=4, interfaces=(name,), **options)


@pytest.mark.parametrize("compiler", besides(COMPILERS[:1], COMPILERS))
def test_torchs_functions_are_plain_c(tmp_path: Path, compiler: str) -> None:
    """Of states in rows, or of one that all share: the value, and the gradient of its sum."""
    model, rng = codegen.load(ARM), np.random.default_rng(0)
    folder(tmp_path, "torch")
    sources = sorted(path.name for path in tmp_path.glob("my_*.c"))
    compiled(compiler, tmp_path, "-std=c99", "-O2", *WARNINGS, "-shared", "-fPIC", *sources, "-lm", "-o", "my.so")
    library = ctypes.CDLL(str(tmp_path / "my.so"))
    q, v, tau = rng.standard_normal((3, STATES, model.nv))
    tau[:] = tau[0]
    weights = np.ones((STATES, model.nv))

    def call(what: str, given: list[np.ndarray], steps: list[int], made: list[np.ndarray]) -> None:
        pointers = [(ctypes.c_void_p * len(own))(*(x.ctypes.data for x in own)) for own in (given, made)]
        function = getattr(library, f"my_aba_torch_{what}")
        assert function(ctypes.c_size_t(STATES), pointers[0], (ctypes.c_ssize_t * len(steps))(*steps), pointers[1]) == 0

    a, gradient = np.empty((STATES, model.nv)), [np.empty((STATES, model.nv)) for _ in range(3)]
    call("value", [q, v, tau], [2, 2, 0], [a])
    call("adjoint", [q, v, tau, weights], [2, 2, 0, 2], gradient)
    aba = codegen.build(model, "aba")
    np.testing.assert_allclose(a, aba(q, v, tau), rtol=1e-12)
    for mine, theirs in zip(gradient, aba.vjp(q, v, tau, weights), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)


PROGRAM = """
import ctypes, sys
import jax
import numpy as np
jax.config.update("jax_enable_x64", True)
library = ctypes.CDLL(sys.argv[1])
for what in ("value", "adjoint", "forward"):
    handler = jax.ffi.pycapsule(getattr(library, f"my_aba_jax_{what}"))
    jax.ffi.register_ffi_target(f"my_aba_{what}", handler, platform="cpu")
q, v, tau = np.random.default_rng(0).standard_normal((3, 5, 2))
rows = jax.ShapeDtypeStruct((5, 2), np.float64)
print(*np.array(jax.ffi.ffi_call("my_aba_value", rows)(q, v, tau)).ravel())
one = np.ones((5, 2))
print(*np.array(jax.ffi.ffi_call("my_aba_forward", rows)(q, v, tau, one, one, one)).ravel())
none = jax.ShapeDtypeStruct((0, 2), np.float64)
assert jax.ffi.ffi_call("my_aba_value", none)(q[:0], v[:0], tau[:0]).shape == (0, 2)
for given in ((q, v), (q, v, tau.astype(np.float32)), (q, v, tau[:4]), (q, v, tau.ravel()[:9])):
    try:
        jax.block_until_ready(jax.ffi.ffi_call("my_aba_value", rows)(*given))
    except RuntimeError as error:
        assert "my_aba_jax_value: arguments: 3, results: 1, of float64 and for as many states" in str(error), error
    else:
        raise AssertionError(given)
"""


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="the extra [jax] is not installed")
@pytest.mark.parametrize("compiler", besides(COMPILERS[:1], COMPILERS))
def test_jax_calls_its_handlers(tmp_path: Path, compiler: str) -> None:
    model = codegen.load(ARM)
    folder(tmp_path, "jax")
    place = subprocess.run(
        [sys.executable, "-c", "import jax; print(jax.ffi.include_dir())"], capture_output=True, text=True, check=True
    ).stdout.strip()
    sources = [path.name for path in sorted(tmp_path.glob("my_*.c"))]
    flags = ["-std=c99", "-O2", *WARNINGS, "-fPIC", "-shared", f"-isystem{place}"]
    compiled(compiler, tmp_path, *flags, *sources, "-lm", "-o", "my.so")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "my.so")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    value, along = (np.array(line.split(), float).reshape(5, 2) for line in done.stdout.splitlines())
    q, v, tau = np.random.default_rng(0).standard_normal((3, 5, 2))
    one, aba = np.ones((5, 2)), codegen.build(model, "aba")
    np.testing.assert_allclose(value, aba(q, v, tau), rtol=1e-12)
    np.testing.assert_allclose(along, aba.jvp(q, v, tau, one, one, one), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_without_derivatives_there_is_the_value_alone(tmp_path: Path, name: str) -> None:
    folder(tmp_path, name, derivative_order=0)
    made = {path.name for path in tmp_path.glob("my_aba_*")}
    assert {"my_aba_value.c", f"my_aba_{name}.c"} <= made
    assert not any("adjoint" in path or "forward" in path for path in made)


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_they_want_lanes_and_a_number_of_iterations(tmp_path: Path, name: str) -> None:
    with pytest.raises(RobotError, match=r"SIMD lanes; add lanes=8"):
        codegen.generate(codegen.load(ARM), ("aba",), tmp_path / "a", interfaces=(name,))
    with pytest.raises(RobotError, match="number of iterations is fixed"):
        codegen.generate(
            codegen.load("iiwa"), ("prox_pv",), tmp_path / "b", interfaces=(name,), lanes=4, iterations=None
        )
