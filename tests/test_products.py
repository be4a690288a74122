"""Products of matrices: what loops compute is what the straight-line graph says, and counts are that graph's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compilers import COMPILERS, WARNINGS, compiled, output, written
from graph_cases import header

import codegen
from codegen import pipeline
from codegen.backends import BACKENDS
from codegen.emission.emit import Style, emit_folder
from codegen.emission.spec import Kernel, ProductKernel
from codegen.emission.tiles import tiled
from codegen.ir.counting import count
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT
from codegen.ir.products import MatrixProduct, WithProducts, straight_line
from codegen.tracing.task import Task

if TYPE_CHECKING:
    from pathlib import Path

ROWS, INNER, COLUMNS = 9, 3, 7


def example() -> WithProducts:
    """y = a b and z = c + y' b, of which b has zeros; a, b and c hold elements of the input x, doubled."""
    values = [Value(INPUT, port=0, element=k) for k in range(40)]
    values += [Value("twice", (k,)) for k in range(40)] + [Value(CONST)]
    zero = len(values) - 1
    a = tuple(40 + k for k in range(ROWS * INNER))
    b = tuple(zero if k % 3 == 0 else 40 + k for k in range(INNER * COLUMNS))
    d = tuple(zero if k % 4 == 1 else 79 - k % 40 for k in range(ROWS * COLUMNS))
    c = tuple(45 + k % 35 for k in range(COLUMNS * COLUMNS))
    ports = (
        Port("a", (ROWS, INNER)),
        Port("kept0", (INNER, COLUMNS)),
        Port("kept1", (ROWS, COLUMNS)),
        Port("kept2", (COLUMNS, COLUMNS)),
    )
    graph = Graph("multiply", (Port("x", (40,)),), ports, tuple(values), (a, b, d, c))
    y, z = Port("y", (ROWS, COLUMNS)), Port("z", (COLUMNS, COLUMNS))
    products = (MatrixProduct(y, "a", "kept0"), MatrixProduct(z, "y", "kept1", "kept2", transposed=True))
    return WithProducts(graph, products, (z, ports[0], y))


def by_numpy(x: np.ndarray) -> tuple[np.ndarray, ...]:
    a, b, d, c = interpret(example().graph, x)
    return c + (a @ b).T @ d, a, a @ b


def test_straight_line_code_says_what_products_mean() -> None:
    function, x = example(), np.linspace(-1.0, 2.0, 40)
    for mine, theirs in zip(interpret(straight_line(function), x), by_numpy(x), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)


def test_structural_zeros_take_no_operations() -> None:
    counted = count(straight_line(example()))
    entries = INNER * COLUMNS - len(range(0, INNER * COLUMNS, 3)), ROWS * COLUMNS - len(range(1, ROWS * COLUMNS, 4))
    assert counted.mul == 40 + ROWS * entries[0] + COLUMNS * entries[1]


def test_tiles_take_rows_that_meet_a_number() -> None:
    first, second = tiled(example())
    assert [tile[:2] for tile in first.tiles] == [(0, 0), (4, 0), (0, 3), (4, 3)]
    assert all(first.rows[start:end] == (0, 1, 2) for *_, start, end in first.tiles)
    assert second.inner == ROWS


def test_tiles_leave_out_rows_without_numbers() -> None:
    values = (Value(INPUT), Value(CONST))
    left, right = np.ones((8, 8), int), np.zeros((8, 8), int)
    left[4:, :4] = left[:4, 4:] = 0  # blocks on the diagonal
    np.fill_diagonal(left, 0)
    ports = (Port("left", (8, 8)), Port("right", (8, 8)))
    results = tuple(tuple(1 - x for x in matrix.ravel().tolist()) for matrix in (left, 1 - right))
    graph = Graph("g", (Port("x", (1,)),), ports, values, results)
    (loops,) = tiled(WithProducts(graph, (MatrixProduct(Port("y", (8, 8)), "left", "right"),), (Port("y", (8, 8)),)))
    assert [tile[:2] for tile in loops.tiles] == [(0, 0), (0, 4)]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", [(), ("-DARM_PLAIN",)])
def test_loops_compute_it(tmp_path: Path, compiler: str, flags: tuple[str, ...]) -> None:
    files = emit_folder(header(), (ProductKernel(example()),), Style())
    check(files, ["arm_multiply.c"], tmp_path, compiler, flags)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_so_do_those_of_plain_c(tmp_path: Path, compiler: str) -> None:
    writer = BACKENDS["c_portable"]
    files = writer.folder(header(), (ProductKernel(example()),), writer.style(Style()), {})
    check(files, ["arm.c"], tmp_path, compiler, ("-Wconversion",))


def check(files: dict[str, str], sources: list[str], folder: Path, compiler: str, flags: tuple[str, ...]) -> None:
    x = np.linspace(-1.0, 2.0, 40)
    files["main.c"] = (
        '#include <stdio.h>\n#include "arm.h"\nint main(void) {\n'
        f"double x[] = {{{', '.join(map(repr, x.tolist()))}}}, a[27], y[63], z[49];\narm_multiply(x, z, a, y);\n"
        'for (int k = 0; k < 49; ++k) printf("%.17g\\n", z[k]);\n'
        'for (int k = 0; k < 63; ++k) printf("%.17g\\n", y[k]);\nreturn 0; }\n'
    )
    written(files, folder)
    sanitize = ["-g", "-O2", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    compiled(compiler, folder, "-std=c99", *WARNINGS, *flags, *sanitize, "main.c", *sources, "-lm", "-o", "main")
    got = np.array([float(line) for line in output(folder / "main").split()])
    z, _, y = by_numpy(x)
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


def test_counts_are_those_of_the_straight_line_graph() -> None:
    robot = codegen.load("go1")
    made = pipeline.kernel(Task(robot, "aba_derivatives"))
    assert isinstance(made, ProductKernel)
    assert made.count == count(codegen.graphs(robot, "aba_derivatives")[1])
    assert made.outputs[:3] == tuple(codegen.graphs(robot, "aba_derivatives")[1].outputs[:3])


def test_small_products_are_straight_line_code() -> None:
    assert isinstance(pipeline.kernel(Task(codegen.load("iiwa"), "aba_derivatives")), Kernel)
