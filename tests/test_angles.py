"""The generated sine and cosine against many digits: the stated bound, wherever it might break."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import pytest
from compilers import COMPILERS
from graph_cases import header, kernel
from thorough import diagonal

from codegen.compilation.compiler import compile_extension, toolchain
from codegen.compilation.runtime import Function, load
from codegen.emission.emit import Style, emit_artifact
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.operations import INPUT

if TYPE_CHECKING:
    from pathlib import Path

ANGLES = 7
LIMIT = 1e5


def turning(count: int) -> Graph:
    """Sines and cosines of so many angles."""
    values = [Value(INPUT, port=0, element=k) for k in range(count)]
    values += [Value(op, (k,)) for op in ("sin", "cos") for k in range(count)]
    ports = (Port("x", (count,)),), (Port("s", (count,)), Port("c", (count,)))
    return Graph("turning", *ports, tuple(values), (tuple(range(count, 2 * count)), tuple(range(2 * count, 3 * count))))


def made(folder: Path, compiler: str, target: str, dtype: str, trig: str = "fast") -> Function:
    tools = toolchain(target, compiler=compiler)
    style = Style(dtype, trig, tools.lanes(np.dtype(dtype).itemsize))
    artifact = emit_artifact(header(), kernel(turning(ANGLES)), style)
    artifact, extension = compile_extension([artifact], folder, tools)
    return load(artifact, folder / extension)


def samples(dtype: str) -> Any:
    """Uniform, small, denormal, near the quadrants' borders, nearest to multiples of pi/2 (29 comes closest)."""
    rng = np.random.default_rng(0)
    multiples = np.concatenate([[29, 58, 116, 232], rng.integers(1, 63662, 500), np.arange(1, 100)]) * (np.pi / 2)
    borders = (rng.integers(0, 63660, 300) + 0.5) * (np.pi / 2)
    spread = [rng.uniform(-LIMIT, LIMIT, 800), rng.uniform(-8, 8, 800), np.linspace(0.7, 0.9, 200), [LIMIT, 0.0]]
    small = 10 ** rng.uniform(-323 if dtype == "float64" else -45, 0, 300)
    x = np.concatenate([multiples, borders, *spread, small]).astype(dtype)
    x = np.concatenate([x, -x, np.nextafter(x, np.dtype(dtype).type(0))])
    return x[: len(x) // ANGLES * ANGLES].reshape(-1, ANGLES)


def ulps(got: Any, exact: list[Any]) -> float:
    """The largest error in units of the last place of the exact value."""
    info, worst = np.finfo(got.dtype), 0.0
    for value, wanted in zip(got.ravel(), exact, strict=True):
        exponent = max(mpmath.frexp(wanted)[1] - 1, int(info.minexp)) if wanted else int(info.minexp)
        error = abs(mpmath.mpf(float(value)) - wanted) * mpmath.mpf(2) ** (int(info.nmant) - exponent)
        worst = max(worst, float(error))
    return worst


@pytest.mark.parametrize(
    "builds",
    [
        pytest.param([(COMPILERS[0], "native")], id="one"),
        pytest.param([*product(COMPILERS, ("native", "portable"))], id="all", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_at_most_one_ulp(tmp_path: Path, dtype: str, builds: list[tuple[str, str]]) -> None:
    x = samples(dtype) if len(builds) > 1 else samples(dtype)[::8]
    with mpmath.workprec(220):
        sines, cosines = ([f(float(value)) for value in x.ravel()] for f in (mpmath.sin, mpmath.cos))
        for compiler, target in builds:
            f = made(tmp_path, compiler, target, dtype)
            for s, c in (f(x), map(np.array, zip(*[f(row) for row in x], strict=True))):
                assert ulps(s, sines) < 0.8
                assert ulps(c, cosines) < 0.8


@pytest.mark.parametrize(("dtype", "trig"), diagonal(["float64", "float32"], ["fast", "libm"]))
def test_huge_infinite_and_no_number(tmp_path: Path, trig: str, dtype: str) -> None:
    f = made(tmp_path, COMPILERS[0], "native", dtype, trig)
    x = np.array([1.0, 1e6, -1e22, np.inf, -np.inf, np.nan, 1.0000001e5]).astype(dtype)
    with np.errstate(invalid="ignore"):
        wanted = np.sin(x.astype(np.longdouble)), np.cos(x.astype(np.longdouble))
    for s, c in (f(x), (row[3] for row in f(np.tile(x, (5, 1))))):
        np.testing.assert_allclose(s, wanted[0].astype(dtype), rtol=2 * np.finfo(dtype).eps)
        np.testing.assert_allclose(c, wanted[1].astype(dtype), rtol=2 * np.finfo(dtype).eps)


def test_fast_math_falls_back_to_the_c_library(tmp_path: Path) -> None:
    artifact = emit_artifact(header(), kernel(turning(ANGLES)), Style(lanes=4))
    # The macro alone: linked with the flag itself, a library makes the whole process flush denormals to zero.
    tools = toolchain("portable", compiler=f"{COMPILERS[0]} -D__FAST_MATH__")
    artifact, extension = compile_extension([artifact], tmp_path, tools)
    f = load(artifact, tmp_path / extension)
    x = np.linspace(-7, 7, ANGLES)
    np.testing.assert_allclose(f(x).s, np.sin(x), rtol=1e-15)
    np.testing.assert_allclose(f(np.stack([x, x])).c[1], np.cos(x), rtol=1e-15)
