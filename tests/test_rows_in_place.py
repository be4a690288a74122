"""Rows of matrices between products begin where registers do, and sums take the place of what they add to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compilers import COMPILERS
from graph_cases import header
from multiply_in_c import of_many_states, of_one_state

import codegen
from codegen.emission import row_sums, tiles
from codegen.emission.emit import emit_folder
from codegen.emission.in_place import in_place, owners, rows_of_blocks
from codegen.emission.products import kept
from codegen.emission.row_sums import SHARE, overwritten_late
from codegen.emission.spec import ProductKernel, kernel_of
from codegen.emission.tiles import BLOCKS, Tiles, tiled
from codegen.ir.calls import GraphCall
from codegen.ir.counted import counted
from codegen.ir.counting import Count, count
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT
from codegen.ir.padded import padded
from codegen.ir.products import Gather, MatrixProduct, WithProducts, straight_line
from codegen.oracle import ORACLE
from codegen.pipeline import kernel
from codegen.tracing.task import Task

if TYPE_CHECKING:
    from pathlib import Path

N = 34


def lower(seed: int) -> np.ndarray:
    """Where a tree's factor without its diagonal may differ from zero, its first six rows in the order of a base's."""
    draw = np.random.default_rng(seed)
    found = np.tril(draw.random((N, N)) < 0.1, -1).T
    found[:6, :6] = np.tril(np.ones((6, 6), bool), -1)
    return found


def example(*, gathered: bool = False) -> WithProducts:
    """z = s' (x + L x) and w = s' (y + L y), of which x, y, s and L hold elements of the input, doubled."""
    draw = np.random.default_rng(5)
    values = [Value(INPUT, port=0, element=k) for k in range(40)]
    values += [Value("twice", (k,)) for k in range(40)] + [Value(CONST)]
    zero = len(values) - 1

    def held(where: np.ndarray) -> tuple[int, ...]:
        places = draw.integers(40, 80, where.shape)
        return tuple(int(k) for k in np.where(where, places, zero).ravel())

    names = ("strict", "x", "y", "scaled")
    masks = (lower(1), draw.random((N, N)) < 0.05, draw.random((N, N)) < 0.05, np.triu(draw.random((N, N)) < 0.1))
    ports = tuple(Port(name, (N, N)) for name in names)
    graph = Graph("multiply", (Port("in", (40,)),), ports, tuple(values), tuple(map(held, masks)))
    inner = [MatrixProduct(Port(f"l{name}", (N, N)), "strict", name, name) for name in ("x", "y")]
    outer = [MatrixProduct(Port(f"o{name}", (N, N)), "scaled", f"l{name}", transposed=True) for name in ("x", "y")]
    outputs = tuple(own.port for own in outer)
    if not gathered:
        return WithProducts(graph, (*inner, *outer), outputs)
    some = Gather(Port("some", (3,)), "lx", (5, N + 1, N * N - 1))
    return WithProducts(graph, (*inner, *outer), (*outputs, some.port), (some,))


def test_rows_are_padded_and_nothing_more_is_computed() -> None:
    for function in (example(), example(gathered=True)):
        wider, x = padded(function), np.linspace(-1.0, 2.0, 40)
        assert {port.shape for port in wider.kept} == {(N, 40)}
        assert wider.outputs == function.outputs
        assert counted(wider) == counted(function) == count(straight_line(wider))
        for one, other in zip(*(interpret(straight_line(own), x) for own in (function, wider)), strict=True):
            np.testing.assert_array_equal(one, other)


def calling(times: int) -> WithProducts:
    """The same with oc = s' c, of which c holds numbers of x + L x, doubled; `times` calls make such a matrix."""
    function, draw = example(), np.random.default_rng(6)
    values = [Value(INPUT, port=0, element=k) for k in range(N * N)]
    values += [Value("twice", (k,)) for k in range(N * N)] + [Value(CONST)]
    held = tuple(int(k) for k in np.where(draw.random(N * N) < 0.1, draw.permutation(N * N) + N * N, 2 * N * N))
    graph = Graph("doubled", (Port("in0", (N * N,)),), (Port("out0", (N, N)),), tuple(values), (held,))
    made = [Port(f"c{k}", (N, N)) for k in range(times)]
    calls = [GraphCall(graph, ("lx",), (port,)) for port in made]
    outer = [MatrixProduct(Port(f"o{x.name}", (N, N)), "scaled", x.name, transposed=True) for x in made]
    outputs = (*function.outputs, *(own.port for own in outer))
    return replace(function, products=(*function.products, *calls, *outer), outputs=outputs)


@pytest.mark.parametrize("times", [1, 2])
def test_calls_take_and_make_padded_rows(times: int) -> None:
    """But what is called several times, with matrices that may have other rows each time."""
    function, x = calling(times), np.linspace(-1.0, 2.0, 40)
    wider = padded(function)
    assert {port.name: port.shape[1] for port in wider.kept if port.name in ("lx", "ly", "c0")} == (
        {"lx": 40, "ly": 40, "c0": 40} if times == 1 else {"lx": N, "ly": 40, "c0": N}
    )
    assert counted(wider) == counted(function) == count(straight_line(wider))
    for one, other in zip(*(interpret(straight_line(own), x) for own in (function, wider)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_results_that_are_no_matrices_stay() -> None:
    """Such as a status, beside matrices between products."""
    function = example()
    status, graph = Port("status", ()), function.graph
    graph = replace(graph, outputs=(*graph.outputs, status), results=(*graph.results, (40,)))
    wider = padded(replace(function, graph=graph, outputs=(*function.outputs, status)))
    assert wider.graph.outputs[-1] == status
    assert wider.graph.results[-1] == (40,)


def test_arguments_and_narrow_matrices_are_not_padded() -> None:
    function = example()
    assert {port.shape for port in padded(replace(function, outputs=function.kept)).kept} <= {(N, N)}
    narrow = replace(function.graph.outputs[1], shape=(N * N // 17, 17))
    graph = replace(function.graph, outputs=(function.graph.outputs[0], narrow, *function.graph.outputs[2:]))
    assert padded(replace(function, graph=graph, products=())).graph.outputs[1] == narrow


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("seed", range(8))
def test_blocks_cover_rows_once_and_overwrite_what_no_later_one_takes(seed: int, block: int) -> None:
    left = lower(seed)
    starts = rows_of_blocks(left, block)
    rows = [row for start in starts for row in range(start, start + block)]
    assert len({*rows}) == len(rows)
    if starts:
        assert {*np.flatnonzero(left.any(axis=1)).tolist()} <= {*rows} <= {*range(N)}
        x = np.random.default_rng(seed).normal(size=(N, 3))
        expected = x + left @ x
        for start in starts:
            x[start : start + block] += left[start : start + block] @ x
        np.testing.assert_allclose(x, expected, rtol=1e-14, atol=1e-14)


def test_rows_that_take_each_other_are_in_one_block_or_not_overwritten() -> None:
    left = np.zeros((12, 12), bool)
    left[1, 7] = left[7, 1] = True
    assert not any(rows_of_blocks(left, block) for block in BLOCKS)
    left[7, 1], left[2, 1] = False, True
    assert all(rows_of_blocks(left, block) for block in BLOCKS)


def test_sums_take_the_place_of_what_they_add_to() -> None:
    """There is an array less for each, and no tile without products."""
    before, after = padded(example()), in_place(padded(example()), BLOCKS)
    assert owners(after) == {"lx": "x", "ly": "y"}
    assert {*kept(before)} - {*kept(after)} == {"lx_", "ly_"}
    for own in (loops for loops in tiled(after) if isinstance(loops, Tiles) and loops.products[0].onto):
        assert all(start < end for *_, start, end in own.tiles)
        assert own.size[1] % own.width == 0
    assert counted(after) == counted(example())


def test_vectors_of_eight_are_overwritten_after_their_share_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares come in order, each from a multiple of eight columns on; a row of another order leaves tiles."""
    monkeypatch.setattr(tiles, "LONG", 0)
    function = in_place(padded(example()), BLOCKS)
    loops = next(own for own in tiled(function) if isinstance(own, Tiles) and own.products[0].onto)
    assert not loops.wide
    order = [(own.product, own.column, own.share) for own in loops.eights]
    assert order == sorted(order)
    assert {own.share for own in loops.eights} == {0, 1, 2}
    for own in loops.eights:
        assert own.column % 8 == 0
        assert {k // SHARE for k in own.inner} == {own.share}
        assert own.row // SHARE <= own.share
    (product, _) = loops.products
    strict = lower(1)
    assert overwritten_late(product, {"strict": strict, "x": strict, "y": strict})
    strict[30, 3] = True
    assert not overwritten_late(product, {"strict": strict, "x": strict, "y": strict})


def test_what_something_else_takes_is_not_overwritten() -> None:
    function = padded(example())
    others = (
        replace(function, outputs=(*function.outputs, Port("x", (N, 40)))),
        replace(function, gathers=(Gather(Port("some", (1,)), "x", (0,)),)),
        replace(function, products=(*function.products, MatrixProduct(Port("more", (N, 40)), "strict", "x"))),
    )
    for other in others:
        assert owners(in_place(other, BLOCKS)) == {"ly": "y"}


def test_a_left_factor_is_not_overwritten() -> None:
    """Tiles of later columns take its first ones."""
    square = MatrixProduct(Port("y", (N, 40)), "strict", "strict", "strict")
    assert not owners(in_place(replace(padded(example()), products=(square,), outputs=()), BLOCKS))


@pytest.mark.thorough
@pytest.mark.parametrize("straight", [False, True])
@pytest.mark.parametrize("gathered", [False, True])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_compiled_c_computes_the_same(
    tmp_path: Path, compiler: str, gathered: bool, straight: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one state, by vectors of four numbers, plain C and vectors of eight, and of many."""
    monkeypatch.setattr(tiles, "LONG", 0)  # loops over wide tiles, too, or straight-line code in their place
    monkeypatch.setitem(row_sums.MOST, 8, row_sums.MOST[8] * straight)
    function, x = example(gathered=gathered), np.linspace(-1.0, 2.0, 40)
    made = kernel_of(function, "multiplies", Count())
    assert isinstance(made, ProductKernel)
    assert owners(made.function)
    expected = np.concatenate([y.ravel() for y in interpret(straight_line(function), x)])
    sizes = [port.size for port in function.outputs]
    for number, flags in enumerate(([], ["-DARM_PLAIN"], ["-march=native", "-DRIGIDC_512"])):
        files, folder = emit_folder(header(), (made,)), tmp_path / str(number)
        found = of_one_state(dict(files), "arm_multiply.c", folder, compiler, flags, x, sizes)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    states = np.linspace(-1.0, 2.0, 5)[:, None] + x
    for mine, theirs in zip(
        of_many_states(made, tmp_path / "many", compiler, "float64", states),
        zip(*(interpret(straight_line(function), state) for state in states), strict=True),
        strict=True,
    ):
        np.testing.assert_allclose(mine.reshape(len(states), -1), [y.ravel() for y in theirs], rtol=1e-12, atol=1e-12)


def test_derivatives_of_a_chain_have_both() -> None:
    made = kernel(Task(codegen.load("chain:33"), "aba_derivatives"))
    assert isinstance(made, ProductKernel)
    assert owners(made.function)
    assert {port.shape for port in made.function.kept} == {(33, 40)}


@pytest.mark.thorough
def test_they_are_those_of_the_definition() -> None:
    """Compiled, of one state and of many."""
    robot = codegen.load("chain:33")
    f, states = codegen.build(robot, "aba_derivatives"), [robot.random(seed) for seed in range(9)]
    many = f(*map(np.array, zip(*states, strict=True)))
    for k, state in enumerate(states):
        for one, batch, theirs in zip(f(*state), many, ORACLE["aba_derivatives"](robot, *state), strict=True):
            np.testing.assert_allclose(one, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
            np.testing.assert_allclose(batch[k], theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.thorough
def test_derivatives_of_a_humanoid_have_both() -> None:
    made = kernel(Task(codegen.load("talos"), "aba_derivatives"))
    assert isinstance(made, ProductKernel)
    assert owners(made.function)
    assert {port.shape for port in made.function.kept} == {(50, 56)}
