"""Panels: functions at every column or row, in mathematics, as straight-line code, and in C."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from casadi import DM, SX, Function, Sparsity, triu, vec, vertcat
from compilers import COMPILERS
from graph_cases import header
from multiply_in_c import of_many_states, of_one_state
from thorough import diagonal

import codegen
from codegen.backends import BACKENDS
from codegen.emission.emit import Style, emit_folder
from codegen.emission.in_place import in_place, owners
from codegen.emission.spec import ProductKernel
from codegen.ir.counted import counted
from codegen.ir.counting import count
from codegen.ir.graph import Port, Value, from_casadi
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST
from codegen.ir.padded import padded
from codegen.ir.products import WithProducts, straight_line
from codegen.ir.sparse import sparse
from codegen.ir.tabulated import tabulated
from codegen.passes import run
from codegen.recursions.block_matrix import above
from codegen.recursions.expansion import entries
from codegen.recursions.panels import Panel, end_to_end, inwards, mapped, outwards
from codegen.recursions.products import Masked, MaskedProduct, Product, some_columns, times, transposed
from codegen.recursions.scaling import negated
from codegen.recursions.tree import Tree
from codegen.tracing.products import with_products
from codegen.tracing.task import Task
from codegen.tracing.trace import problem_of, symbols_of

if TYPE_CHECKING:
    from pathlib import Path

    Array = np.ndarray

GIVEN = 30
TABLE = np.array([[0.5 * (k + 1) for k in range(18)], [0.0] * 18, [(-1.0) ** k for k in range(18)]])


@cache
def tree() -> Tree:
    """Of a quadruped: six columns of its base, then three of each leg."""
    task = Task(codegen.load("solo12"), "rnea")
    return problem_of(task, symbols_of(task.signature[0])).built


def turned(x: SX, table: SX, y: SX) -> tuple[SX, ...]:
    """Two columns of three, and a constant."""
    return table * x + y, x * y[0] - 2.0 * table[[2, 1, 0]], SX(1.5)


def scaled(x: SX, y: SX) -> tuple[SX, ...]:
    """A row of three, with a number that is zero in all of them."""
    return (vertcat(x[0] * y[1], SX(0), x.T @ y),)


def doubled(x: SX, _: SX, z: SX) -> tuple[SX, ...]:
    """A row times another one."""
    return (x[0] * z,)


@cache
def results() -> tuple[SX, tuple[MaskedProduct | Product, ...]]:
    """Symbols, and products of panels, of which one is cut out of by a mask."""
    x, n = SX.sym("x", GIVEN), tree().nv
    given = [SX(3, n) for _ in range(2)]
    for number, matrix in enumerate(given):
        for row in range(3):
            for column in range(n):
                matrix[row, column] = x[(7 * number + 5 * row + column) % GIVEN]
    first, second, constant = mapped(turned, given[0], SX(DM(TABLE)), given[1])
    beyond = outwards(tree(), first, x[:3])
    carried = inwards(tree(), second)
    mask = Sparsity.upper(n)
    masked = MaskedProduct((Masked(beyond, carried, mask, True), Masked(first, beyond, triu(mask, False).T, True)))
    left = SX(DM(np.linspace(-1.0, 1.0, 27).reshape(9, 3)))
    (rows,) = end_to_end(scaled, given[0].T, given[1].T)
    others = Product(constant, constant, transposed=True), Product(left[:3, :2], above(rows, rows))
    return x, (masked, Product(left, carried), Product(masked, masked), *others)


def exact(x: Array) -> list[Array]:
    """What the results should be, by dense matrices of NumPy's."""
    a, b = (np.array([[x[(7 * k + 5 * r + c) % GIVEN] for c in range(18)] for r in range(3)]) for k in range(2))
    first, second = TABLE * a + b, a * b[0] - 2.0 * TABLE[::-1]
    legs = [range(start, start + 3) for start in (6, 9, 12, 15)]
    on_way = np.zeros((18, 18))  # which columns carry a joint, its own among them, by its columns
    on_way[:6, :] = 1.0
    for leg in legs:
        for k in leg:
            on_way[k, k : leg.stop] = 1.0
    beyond = x[:3, None] + first @ on_way
    carried = second @ on_way.T
    masked = np.triu(beyond.T @ carried) + np.tril(first.T @ beyond, -1)
    left = np.linspace(-1.0, 1.0, 27).reshape(9, 3)
    rows = np.array([a[0] * b[1], np.zeros(18), (a * b).sum(0)]).T.ravel()
    ends = left[:3, :2] @ np.array([rows, rows])
    return [masked, left @ carried, masked @ masked, np.full((18, 18), 2.25), ends]


@cache
def traced(number: int = 5) -> WithProducts:
    """The function of so many results, as tracing makes it of large products, after the passes."""
    x, made = results()
    made = made[:number]
    outputs = [Port(f"y{k}", own.shape) for k, own in enumerate(made)]
    kept = with_products(made, outputs, 0)
    function = Function("f", [x], [vec(matrix.T) for matrix in kept.matrices], {"live_variables": False})
    graph = from_casadi(function, (Port("x", (GIVEN,)),), kept.ports, "multiply")
    return WithProducts(graph, kept.products, tuple(outputs), maps=kept.maps).after(run)


NUMBERS = np.random.default_rng(0).uniform(-1, 1, GIVEN)


def test_entries_are_those_of_all_columns_and_rows() -> None:
    x, made = results()
    for mine, wanted in zip(Function("f", [x], list(entries(made)))(NUMBERS), exact(NUMBERS), strict=True):
        np.testing.assert_allclose(np.array(mine), wanted, rtol=1e-13, atol=1e-13)


def test_they_say_what_they_are() -> None:
    _, (masked, *_) = results()
    assert isinstance(masked, MaskedProduct)
    panels = [part.right for part in masked.parts]
    assert [str(panel) for panel in panels] == [
        "panel 0 (3 x 18) of inwards at 3 rows",
        "panel 0 (3 x 18) of outwards at 3 rows",
    ]
    maps = ["turned at 18 columns", "outwards at 3 rows", "inwards at 3 rows", "scaled at 18 rows"]
    assert [str(own) for own in traced().maps] == maps


def test_numbers_in_all_columns_are_in_the_function() -> None:
    """And what it does not need is not among what it takes."""
    same, other = SX(DM([[2.0] * 4, [1.0, 2.0, 3.0, 4.0]])), SX.sym("unused", 2, 4)
    (made,) = mapped(doubled, same, other, SX.sym("z", 1, 4))
    assert [x.shape for x in made.map.takes] == [(1, 4)]
    (found,) = entries((made,))
    assert str(found[2]) == "(2.*z_2)"


def test_where_all_is_numbers_they_are_taken() -> None:
    """As of one row of a contact on the body whose frame it is."""
    (made,) = mapped(doubled, SX(DM([[2.0]])), SX.sym("unused", 0, 1), SX(DM([[3.0]])))
    assert [x.shape for x in made.map.takes] == [(1, 1), (1, 1)]
    assert float(entries((made,))[0]) == 6.0


def test_panels_can_be_transposed_cut_multiplied_and_negated() -> None:
    x, (masked, *_) = results()
    assert isinstance(masked, MaskedProduct)
    panel = masked.parts[0].right
    assert isinstance(panel, Panel)
    places, constant = [3, 0, 7], np.random.default_rng(1).uniform(size=(18, 4))
    found = [panel, transposed(panel), some_columns(panel, places), times(panel, SX(DM(constant))), negated(panel)]
    own, *others = (np.array(y) for y in Function("f", [x], list(entries(tuple(found))))(NUMBERS))
    for mine, wanted in zip(others, [own.T, own[:, places], own @ constant, -own], strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-13, atol=1e-13)
    both = Function("f", [x], list(entries((masked, negated(masked)))))(NUMBERS)
    np.testing.assert_allclose(np.array(both[0]), -np.array(both[1]), rtol=1e-13, atol=1e-13)


def test_straight_line_code_says_what_they_mean() -> None:
    for mine, wanted in zip(interpret(straight_line(traced()), NUMBERS), exact(NUMBERS), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-13, atol=1e-13)


def test_operations_are_the_kernels_times_columns_or_rows() -> None:
    function = traced()
    without = WithProducts(
        function.graph, (), tuple(port for own in function.maps for port in own.ports), maps=function.maps
    )
    kernels = sum(count(own.kernel).total * own.count for own in function.maps)
    assert count(straight_line(without)).total == count(function.graph).total + kernels


def longer(monkeypatch: pytest.MonkeyPatch, function: WithProducts) -> WithProducts:
    """The function with 24 numbers in the place of 18 in rows of matrices between loops."""
    monkeypatch.setattr("codegen.ir.padded.LEAST", 16)
    return padded(function)


def test_rows_of_panels_are_padded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing more is counted for it."""
    function = traced(1)
    wider = longer(monkeypatch, function)
    across, *sums = wider.maps
    assert across.padded
    assert {across.lengths, *(own.lengths[-1:] for own in sums)} == {(24,) * 6, (24,)}
    assert len(next(x for x in across.takes if not isinstance(x, str))) == 2 * 24
    assert counted(wider) == counted(function) == count(straight_line(wider))
    (mine,), (wanted,) = (interpret(straight_line(own), NUMBERS) for own in (wider, function))
    np.testing.assert_array_equal(mine, wanted)


def test_behind_rows_are_zeros_for_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which read them; what is on the stack might be slow numbers, such as small integers' bits are."""
    made = ProductKernel(longer(monkeypatch, traced(1)))
    text = emit_folder(header(), (made,), Style())["arm_multiply.c"]
    assert text.count("FILL(&y0[24*at + 18], 6, 0.0);") == 2
    plain = BACKENDS["c_portable"]
    assert "FILL" not in "".join(plain.folder(header(), (made,), plain.style(Style()), {}).values())


def test_panels_that_products_take_as_right_factors_are_not_padded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are others of the same map: behind their rows, lanes compute nothing."""
    function = longer(monkeypatch, traced())
    assert not function.maps[0].padded


@pytest.mark.parametrize(
    ("compiler", "flags"), diagonal(COMPILERS, [("-march=native", "-DRIGIDC_512"), ("-DARM_PLAIN",), ()])
)
def test_loops_over_padded_panels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiler: str, flags: tuple[str, ...]
) -> None:
    made = ProductKernel(longer(monkeypatch, traced(1)))
    wanted = exact(NUMBERS)[0].ravel()
    files = emit_folder(header(), (made,), Style())
    got = of_one_state(files, "arm_multiply.c", tmp_path, compiler, flags, NUMBERS, [wanted.size])
    np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-13)


def test_sums_take_the_place_of_what_they_add_up() -> None:
    """Where nothing else takes it; leaves stay as they are, and are not stored again."""
    function = in_place(traced(1), ())
    _, *sums = function.maps
    assert [str(own) for own in sums if own.onto] == ["inwards at 3 rows"]
    assert owners(function) == {own.ports[0].name: own.names[0] for own in sums if own.onto}
    text = emit_folder(header(), (ProductKernel(function),), Style(lanes=1))["arm_multiply.c"]
    assert "y0[18*at + 17] = x0[18*at + 17];" not in text


def test_sums_whose_place_is_read_later_have_another() -> None:
    own = next(x for x in traced(1).maps if x.kernel.name == "inwards")
    graph, results = own.kernel, own.kernel.results[0]
    for wrong in (results[::-1], (*results[1:], results[0]), (results[-1],) * len(results)):
        other = replace(own, kernel=replace(graph, results=(wrong,)))
        maps = tuple(other if x is own else x for x in traced(1).maps)
        assert not any(x.onto for x in in_place(replace(traced(1), maps=maps), ()).maps)


def test_constants_that_maps_take_are_tables() -> None:
    """Also if only passes find that they are constants; nothing stores them then."""
    function = traced(1)
    taken = next(x for x in function.maps[0].takes if isinstance(x, str))
    values = (*function.graph.values, Value(CONST, constant=0.25))
    pairs = zip(function.graph.outputs, function.graph.results, strict=True)
    held = tuple((len(values) - 1,) * port.size if port.name == taken else own for port, own in pairs)
    before = replace(function, graph=replace(function.graph, values=values, results=held))
    after = tabulated(before)
    assert after.maps[0].takes == tuple((0.25,) * 54 if x == taken else x for x in function.maps[0].takes)
    assert taken not in [port.name for port in after.graph.outputs]
    (mine,), (wanted,) = (interpret(straight_line(own), NUMBERS) for own in (after, before))
    np.testing.assert_array_equal(mine, wanted)
    assert tabulated(function) is function


def test_nonzeros_are_gathered() -> None:
    found = sparse(traced(), {port.name for port in traced().outputs})
    results = interpret(straight_line(found), NUMBERS)
    for port, mine, wanted in zip(found.outputs, results, exact(NUMBERS), strict=True):
        assert port.pattern is not None
        np.testing.assert_allclose(port.pattern.dense(mine), wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("compiler", "flags"), diagonal(COMPILERS, [("-march=native",), ("-DARM_PLAIN",), ()]))
def test_loops_compute_them(tmp_path: Path, compiler: str, flags: tuple[str, ...]) -> None:
    check(emit_folder(header(), (ProductKernel(traced()),), Style()), "arm_multiply.c", tmp_path, compiler, flags)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_so_do_those_of_plain_c(tmp_path: Path, compiler: str) -> None:
    writer = BACKENDS["c_portable"]
    files = writer.folder(header(), (ProductKernel(traced()),), writer.style(Style()), {})
    check(files, "arm.c", tmp_path, compiler, ())


def check(files: dict[str, str], source: str, folder: Path, compiler: str, flags: tuple[str, ...]) -> None:
    wanted = exact(NUMBERS)
    got = of_one_state(files, source, folder, compiler, flags, NUMBERS, [own.size for own in wanted])
    np.testing.assert_allclose(got, np.concatenate([own.ravel() for own in wanted]), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("compiler", "dtype"), diagonal(COMPILERS, ["float64", "float32"], most=1))
def test_many_states_in_lanes(tmp_path: Path, compiler: str, dtype: str) -> None:
    states = np.random.default_rng(5).uniform(-1, 1, (7, GIVEN))
    out = of_many_states(ProductKernel(traced()), tmp_path, compiler, dtype, states)
    for state, *found in zip(states, *out, strict=True):
        for mine, wanted in zip(found, exact(state), strict=True):
            largest = float(np.abs(wanted).max())
            np.testing.assert_allclose(mine, wanted, rtol=0, atol=largest * (1e-14 if dtype == "float64" else 1e-5))
