"""Products of matrices in compiled C: what its loops compute is what the straight-line graph says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compilers import COMPILERS, SANITIZED, WARNINGS, compiled, output, written
from graph_cases import header
from product_cases import EXAMPLES
from thorough import diagonal

import codegen
from codegen import pipeline
from codegen.backends import BACKENDS
from codegen.emission import row_sums, tiles
from codegen.emission.emit import Style, emit_folder
from codegen.emission.spec import ProductKernel
from codegen.ir.interpreter import interpret
from codegen.ir.products import WithProducts, straight_line
from codegen.tracing.form import Form
from codegen.tracing.task import Task

if TYPE_CHECKING:
    from pathlib import Path

PLAIN, WIDE = ("-DARM_PLAIN",), ("-march=native", "-DRIGIDC_512")


@pytest.mark.parametrize(("compiler", "flags", "name"), diagonal(COMPILERS, [(), PLAIN, WIDE], [*EXAMPLES]))
def test_straight_line_code_computes_it(tmp_path: Path, compiler: str, flags: tuple[str, ...], name: str) -> None:
    function = EXAMPLES[name]()
    files = emit_folder(header(), (ProductKernel(function),), Style())
    check(files, ["arm_multiply.c"], tmp_path, compiler, flags, function)


@pytest.mark.parametrize(
    ("compiler", "flags", "name"),
    diagonal(COMPILERS, [WIDE, PLAIN, ()], ["paired", "summed", "squares", "whole", "apart"]),
)
def test_loops_compute_it(
    tmp_path: Path, compiler: str, flags: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they do of larger matrices, whatever part of them is added to."""
    monkeypatch.setattr(tiles, "FEW", 1)
    monkeypatch.setattr(row_sums, "MOST", {8: 0, 4: 0, 1: 0})
    monkeypatch.setattr(tiles, "LONG", 0)
    function = EXAMPLES[name]()
    files = emit_folder(header(), (ProductKernel(function),), Style())
    assert "const int *const own = tiles[tile];" in files["arm_multiply.c"]
    check(files, ["arm_multiply.c"], tmp_path, compiler, flags, function)


@pytest.mark.parametrize(
    ("compiler", "flags", "name"), diagonal(COMPILERS, [WIDE, PLAIN, ()], ["paired", "squares", "apart"])
)
def test_wide_tiles_of_the_longest_functions_are_for_all_registers(
    tmp_path: Path, compiler: str, flags: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("HUGE", "LONG", "LONGER", "LONGEST", "ALONE"):
        monkeypatch.setattr(tiles, limit, 0)
    function = EXAMPLES[name]()
    files = emit_folder(header(), (ProductKernel(function),), Style())
    assert files["arm_multiply.c"].count("j += ARM_ACROSS8") == files["arm_multiply.c"].count("j += ") > 0
    check(files, ["arm_multiply.c"], tmp_path, compiler, flags, function)


@pytest.mark.parametrize(("compiler", "name"), diagonal(COMPILERS, [*EXAMPLES]))
def test_so_do_those_of_plain_c(tmp_path: Path, compiler: str, name: str) -> None:
    function, writer = EXAMPLES[name](), BACKENDS["c_portable"]
    files = writer.folder(header(), (ProductKernel(function),), writer.style(Style()), {})
    check(files, ["arm.c"], tmp_path, compiler, ("-Wconversion",), function)


def check(
    files: dict[str, str],
    sources: list[str],
    folder: Path,
    compiler: str,
    flags: tuple[str, ...],
    function: WithProducts,
) -> None:
    x, sizes = np.linspace(-1.0, 2.0, 40), [port.size for port in function.outputs]
    files["main.c"] = (
        '#include <stdio.h>\n#include "arm.h"\nint main(void) {\n'
        f"double x[] = {{{', '.join(map(repr, x.tolist()))}}}, z[{sizes[0]}], a[{sizes[1]}], y[{sizes[2]}];\n"
        "arm_multiply(x, z, a, y);\n"
        f'for (int k = 0; k < {sizes[0]}; ++k) printf("%.17g\\n", z[k]);\n'
        f'for (int k = 0; k < {sizes[2]}; ++k) printf("%.17g\\n", y[k]);\nreturn 0; }}\n'
    )
    written(files, folder)
    compiled(
        compiler, folder, "-std=c99", *WARNINGS, *flags, "-O2", *SANITIZED, "main.c", *sources, "-lm", "-o", "main"
    )
    got = np.array([float(line) for line in output(folder / "main").split()])
    z, _, y = interpret(straight_line(function), x)
    np.testing.assert_allclose(got, np.concatenate([z.ravel(), y.ravel()]), rtol=1e-13, atol=1e-13)


CASES: list[Any] = [
    ("go1", "aba_derivatives", None, "float64"),
    pytest.param("go1", "aba_derivatives", None, "float32", marks=pytest.mark.thorough),
    pytest.param("talos", "aba_derivatives", None, "float64", marks=pytest.mark.thorough),
    pytest.param("solo12", "prox_pv_derivatives", ("FL_FOOT:3", "HR_FOOT:3"), "float64", marks=pytest.mark.thorough),
]


@pytest.mark.parametrize(("name", "algorithm", "contacts", "dtype"), CASES)
def test_compiled_derivatives_are_those_of_the_graph(
    name: str, algorithm: str, contacts: tuple[str, ...] | None, dtype: str
) -> None:
    """One state at a time and many."""
    robot = codegen.load(name)
    function = codegen.build(robot, algorithm, contacts=contacts, dtype=dtype)
    _, graph = codegen.graphs(robot, algorithm, contacts=contacts, dtype=dtype)
    rng = np.random.default_rng(2)
    states = [robot.random(rng) for _ in range(5)]
    q, v, tau = (np.array(x) for x in zip(*states, strict=True))
    expected, many = interpret(graph, q, v, tau), function(q, v, tau)
    one = function(*states[1])
    near = 1e-10 if dtype == "float64" else 2e-3
    for port, x, y, z in zip(graph.outputs, expected, many, one, strict=False):
        size = np.abs(x).max()
        assert np.abs(y - x).max() < near * size, port
        assert np.abs(z - x[1]).max() < near * size, port


@pytest.mark.thorough
def test_sparse_results_are_gathered_from_those_of_loops() -> None:
    robot = codegen.load("go1")
    whole, nonzeros = (codegen.build(robot, "aba_derivatives", sparse=sparse) for sparse in (False, True))
    q, v, tau = robot.random(np.random.default_rng(3))
    for name, own, dense in zip(("da_dq", "da_dv", "Minv"), nonzeros(q, v, tau), whole(q, v, tau), strict=True):
        assert (nonzeros.pattern(name).dense(own) == dense).all()
    assert isinstance(pipeline.kernel(Task(robot, "aba_derivatives", form=Form(sparse=True))), ProductKernel)
