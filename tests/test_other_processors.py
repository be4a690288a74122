"""The same C elsewhere: on aarch64, cross-compiled and emulated, and on microcontrollers, compiled and not linked."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import pytest
from compilers import WARNINGS, compiled, written
from graph_cases import header, kernel
from test_angles import ANGLES, samples, turning, ulps

import codegen
from codegen.emission.emit import Style, emit_folder
from codegen.emission.flags import FLAGS
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LIBRARY, EMULATOR = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
CROSS = [["aarch64-linux-gnu-gcc"], *([["clang", "--target=aarch64-linux-gnu"]] if shutil.which("clang") else [])]
aarch64 = pytest.mark.skipif(not (LIBRARY and EMULATOR), reason="no cross compiler or no emulator for aarch64")

BARE = shutil.which("arm-none-eabi-gcc")
CORTEX = {
    "m4": ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
    "m7": ["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"],
}

# Reads the inputs of one function, an argument after the other, each of n states; writes the outputs of n single calls
# in the same manner, then those of one call on n states.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "{prefix}.h"
typedef {macro}_REAL R;
static void take(R *to, size_t n) {{ if (fread(to, sizeof(R), n, stdin) != n) exit(1); }}
static void give(const R *from, size_t n) {{ fwrite(from, sizeof(R), n, stdout); }}
static R work[{macro}_{name}_WORK], {arrays};
int main(void)
{{
    {takes}
    for (int i = 0; i < {n}; ++i) {function}({single});
    {gives}
    {function}_aos({n}, {rows}, work);
    {gives}
    return 0;
}}
"""


def program(prefix: str, name: str, given: Sequence[int], made: Sequence[int], n: int) -> str:
    sizes = {f"a{k}": size for k, size in enumerate((*given, *made))}
    outputs = list(sizes)[len(given) :]
    return PROGRAM.format(
        prefix=prefix,
        macro=prefix.upper(),
        name=name.upper(),
        function=f"{prefix}_{name}",
        n=n,
        arrays=", ".join(f"{a}[{n * size}]" for a, size in sizes.items()),
        takes=" ".join(f"take({a}, {n * sizes[a]});" for a in sizes if a not in outputs),
        gives=" ".join(f"give({a}, {n * sizes[a]});" for a in outputs),
        single=", ".join(f"{a} + i*{size}" for a, size in sizes.items()),
        rows=", ".join(f"{a}, {size}" for a, size in sizes.items()),
    )


def emulated(
    folder: Path, compiler: Sequence[str], names: tuple[str, str], inputs: Sequence[Any], shapes: Sequence[Any]
) -> list[list[Any]]:
    """Outputs of these shapes of `names` (prefix, function) on aarch64: of single calls, and of all at once."""
    prefix, name = names
    n, dtype = len(inputs[0]), inputs[0].dtype
    sizes = [[int(np.prod(shape)) for shape in side] for side in ([a.shape[1:] for a in inputs], shapes)]
    (folder / "main.c").write_text(program(prefix, name, *sizes, n), encoding="utf-8")
    sources = ["main.c", f"{prefix}_{name}.c", f"{prefix}_{name}_lanes.c"]
    flags = ["-std=c99", *FLAGS, *WARNINGS, "-static"]
    compiled(compiler[0], folder, *compiler[1:], *flags, *sources, "-lm", "-o", f"{name}.elf")
    given = b"".join(a.tobytes() for a in inputs)
    run = subprocess.run([str(EMULATOR), str(folder / f"{name}.elf")], input=given, capture_output=True, check=True)
    parts = np.split(np.frombuffer(run.stdout, dtype), np.cumsum([n * size for size in sizes[1] * 2])[:-1])
    arrays = [part.reshape(n, *shape) for part, shape in zip(parts, [*shapes, *shapes], strict=True)]
    return [arrays[: len(shapes)], arrays[len(shapes) :]]


@aarch64
@pytest.mark.parametrize("compiler", CROSS, ids=lambda words: words[0])
@pytest.mark.parametrize(("dtype", "lanes", "close"), [("float64", 2, 1e-14), ("float32", 4, 2e-6)])
@pytest.mark.parametrize("name", ["iiwa", "go1"])
def test_a_robot_on_aarch64(
    tmp_path: Path, compiler: list[str], name: str, dtype: str, lanes: int, close: float
) -> None:
    """One without like limbs, and one whose legs go in step."""
    robot = codegen.load(name)
    codegen.generate(robot, ["rnea", "crba", "aba"], tmp_path, dtype=dtype, lanes=lanes)
    states = [np.array(column, dtype) for column in zip(*[robot.random(k) for k in range(9)], strict=True)]
    for algorithm, inputs in (("rnea", states), ("crba", states[:1]), ("aba", states)):
        exact = np.asarray(ORACLE[algorithm](robot, *[array.astype(float) for array in inputs]))
        for (got,) in emulated(tmp_path, compiler, (name, algorithm), inputs, [exact.shape[1:]]):
            np.testing.assert_allclose(got, exact, rtol=0, atol=close * abs(exact).max())


@aarch64
@pytest.mark.parametrize("compiler", CROSS, ids=lambda words: words[0])
@pytest.mark.parametrize(("dtype", "lanes"), [("float64", 2), ("float32", 8)])
def test_angles_on_aarch64(tmp_path: Path, compiler: list[str], dtype: str, lanes: int) -> None:
    """At most one ulp up to 1e5; beyond, and for no numbers, the C library's, alone and among others."""
    written(emit_folder(header(), (kernel(turning(ANGLES)),), Style(dtype, lanes=lanes)), tmp_path)
    near = samples(dtype)[::4]
    strange = np.array([1.0, 1e6, -1e22, np.inf, -np.inf, np.nan, 1.0000001e5]).astype(dtype)
    x = np.concatenate([near, np.tile(strange, (3, 1)), np.tile(strange[:, None], (1, ANGLES))])
    with mpmath.workprec(220), np.errstate(invalid="ignore"):
        exact = [[f(float(value)) for value in near.ravel()] for f in (mpmath.sin, mpmath.cos)]
        far = [f(x[len(near) :].astype(np.longdouble)).astype(dtype) for f in (np.sin, np.cos)]
    for way in emulated(tmp_path, compiler, ("arm", "turning"), [x], [(ANGLES,)] * 2):
        for got, digits, library in zip(way, exact, far, strict=True):
            assert ulps(got[: len(near)], digits) < 0.8
            np.testing.assert_allclose(got[len(near) :], library, rtol=2 * np.finfo(dtype).eps)


@pytest.mark.skipif(not BARE, reason="no compiler for microcontrollers")
@pytest.mark.parametrize("lanes", [1, 4])
def test_microcontrollers_need_sines_and_memory_copies_only(tmp_path: Path, lanes: int) -> None:
    """No heap, no globals; where the unit knows no doubles, no double arithmetic in software either."""
    allowed = {"sinf", "cosf", "fabsf", "memcpy", "memset"}
    files = codegen.generate(codegen.load("iiwa"), ["rnea", "aba"], tmp_path, dtype="float32", lanes=lanes)
    sources = [path.name for path in files if path.suffix == ".c" and path.name != "example.c"]
    for flags in CORTEX.values():
        strict = ["-std=c99", "-ffreestanding", *FLAGS, *WARNINGS, "-Wundef"]
        compiled("arm-none-eabi-gcc", tmp_path, *flags, *strict, "-c", *sources)
        listing = ["arm-none-eabi-nm", *[name.replace(".c", ".o") for name in sources]]
        symbols = subprocess.run(listing, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        kinds = [line.split()[-2:] for line in symbols.splitlines() if len(line.split()) > 1]
        assert {name for kind, name in kinds if kind == "U"} <= allowed
        assert not [name for kind, name in kinds if kind in "BbDdCGgSs"]
