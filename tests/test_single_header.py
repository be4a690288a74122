"""One header in place of a folder: it compiles as C and C++, in several sources, and gives what the folder gives."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from compilers import COMPILERS, WARNINGS, compiled, output
from thorough import besides

import codegen
from codegen.errors import RobotError

CPLUSPLUS = {"gcc": "g++", "clang": "clang++"}
WAYS = [(name, "c", std) for name in COMPILERS for std in ("c99", "c11")]
WAYS += [(CPLUSPLUS[name], "c++", "c++17") for name in COMPILERS if shutil.which(CPLUSPLUS[name])]

PROGRAM = r"""
#include <stdio.h>
#include "arm.h"
#include "arm.h"

double elsewhere(const double *q);

int main(void)
{
    const double q[] = { 0.3, -0.4 }, v[] = { 1, 2 }, tau[] = { 0.5, -0.2 };
    double a[2], M[4];
    arm_aba(q, v, tau, a);
    arm_crba(q, M);
    printf("%.17g %.17g %.17g %d\n", a[0], a[1], elsewhere(q), M[1] == M[2]);
    return arm_abi() != ARM_ABI;
}
"""

DEFINITIONS = """
#include "arm.h"
#define ARM_IMPLEMENTATION
#include "arm.h"
#define LEG_IMPLEMENTATION
#include "leg.h"
#include "leg.h"

/* Names that the definitions use are free behind them. */
struct T { double R, D; };
enum P2 { BLOCK, BITS, P4 };
"""

ELSEWHERE = """
#include "leg.h"
double elsewhere(const double *q);
double elsewhere(const double *q)
{
    double M[4];
    leg_crba(q, M);
    return M[0];
}
"""


def sources(folder: Path, backend: str = "c") -> None:
    """Two headers for one program of three sources."""
    for prefix in ("arm", "leg"):
        options = {"prefix": prefix, "backend": backend}
        (path,) = codegen.generate(
            codegen.load("chain:2"), ("aba", "crba", "rnea"), folder, single_header=True, **options
        )
        assert path.name == f"{prefix}.h"
    for name, text in (("program.c", PROGRAM), ("definitions.c", DEFINITIONS), ("elsewhere.c", ELSEWHERE)):
        (folder / name).write_text(text)


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("headers")
    sources(folder)
    return folder


@pytest.mark.parametrize(("compiler", "language", "standard"), WAYS)
def test_one_program_of_several_sources(headers: Path, compiler: str, language: str, standard: str) -> None:
    names, strict = ["program.c", "definitions.c", "elsewhere.c"], [*WARNINGS, f"-std={standard}"]
    name = f"program_{compiler}_{standard}"
    compiled(compiler, headers, *strict, "-O2", "-march=native", "-x", language, *names, "-lm", "-o", name)
    arm, q = codegen.load("chain:2"), [0.3, -0.4]
    *found, first, symmetric = map(float, output(headers / name).split())
    assert found == pytest.approx(codegen.build(arm, "aba")(q, [1, 2], [0.5, -0.2]), rel=1e-13)
    assert first == pytest.approx(codegen.build(arm, "crba")(q)[0, 0], rel=1e-13)
    assert symmetric == 1


@pytest.mark.parametrize("robot", besides(["iiwa"], ["iiwa", "solo12"]))
@pytest.mark.parametrize("backend", ["c", "c_portable"])
def test_many_functions(tmp_path: Path, backend: str, robot: str) -> None:
    """Products of matrices, operations that several functions need, sparse results and a status, in one source."""
    model = codegen.load(robot)
    options = {"contacts": [f"{model.tips[0]}:3"], "backend": backend, "sparse": True, "prefix": "my"}
    names = ("rnea", "pv", "prox_pv", "pv_derivatives", "minverse")
    codegen.generate(model, names, tmp_path, single_header=True, **options)
    (tmp_path / "all.c").write_text('#define MY_IMPLEMENTATION\n#include "my.h"\n')
    for compiler, language, standard in WAYS[:1] + WAYS[-1:]:
        arguments = ("-O0", f"-std={standard}", "-x", language, "-c", "all.c", "-o", "all.o")
        compiled(compiler, tmp_path, *WARNINGS, *arguments)


@pytest.mark.parametrize("options", [{"lanes": 4}, {"interfaces": ("casadi",)}, {"libraries": ("aarch64-macos",)}])
def test_what_a_single_header_has_not(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(RobotError, match="leave lanes, interfaces and libraries out"):
        codegen.generate(codegen.load("chain:2"), ("aba",), tmp_path, single_header=True, **options)  # type: ignore[arg-type]
