"""Products of matrices: what loops compute is what the straight-line graph says, and counts are that graph's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from casadi import SX, Function
from compilers import COMPILERS, SANITIZED, WARNINGS, compiled, output, written
from graph_cases import header
from thorough import diagonal

import codegen
from codegen import pipeline
from codegen.backends import BACKENDS
from codegen.emission import row_sums, tiles
from codegen.emission.emit import Style, emit_folder
from codegen.emission.kernels import emit_drafts
from codegen.emission.spec import Kernel, ProductKernel
from codegen.emission.tiles import tiled, unread
from codegen.ir.counted import counted
from codegen.ir.counting import count
from codegen.ir.fused import fused
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT
from codegen.ir.padded import padded
from codegen.ir.products import Gather, MatrixProduct, Term, WithProducts, straight_line
from codegen.ir.sparse import sparse
from codegen.ir.turned import turned, turned_products
from codegen.ir.vanishing import without_vanishing
from codegen.passes import drop_dead
from codegen.recursions.expansion import entries
from codegen.recursions.products import Product, transposes
from codegen.tracing.form import Form
from codegen.tracing.products import with_products
from codegen.tracing.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS, INNER, COLUMNS = 9, 3, 9


def example() -> WithProducts:
    """y = a b and z = c + y' b, of which b has zeros; a, b and c hold elements of the input x, doubled."""
    values = [Value(INPUT, port=0, element=k) for k in range(40)]
    values += [Value("twice", (k,)) for k in range(40)] + [Value(CONST)]
    zero = len(values) - 1
    a = tuple(40 + k for k in range(ROWS * INNER))
    b = tuple(zero if k % 4 == 0 else 40 + k for k in range(INNER * COLUMNS))
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


def gathering() -> WithProducts:
    """The nonzeros of the same."""
    found = sparse(example(), {"z", "a", "y"})
    assert isinstance(found, WithProducts)
    return found


def by_numpy(x: np.ndarray) -> tuple[np.ndarray, ...]:
    a, b, d, c = interpret(example().graph, x)
    return c + (a @ b).T @ d, a, a @ b


def test_straight_line_code_says_what_products_mean() -> None:
    function, x = example(), np.linspace(-1.0, 2.0, 40)
    for mine, theirs in zip(interpret(straight_line(function), x), by_numpy(x), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-14, atol=1e-15)


def test_nonzeros_are_gathered_from_whole_matrices() -> None:
    """Of what products make or take; matrices that none takes are straight-line results."""
    function, found, x = example(), gathering(), np.linspace(0.1, 2.0, 40)
    assert [str(own) for own in found.gathers] == [
        f"{port} out of {port.name}_whole" for port in found.outputs if port.pattern
    ]
    assert count(straight_line(found)) == count(straight_line(function))
    for port, values, dense in zip(found.outputs, interpret(straight_line(found), x), by_numpy(x), strict=True):
        assert port.pattern is not None
        np.testing.assert_allclose(port.pattern.dense(values), dense, rtol=1e-14, atol=1e-15)
        assert port.pattern.nnz == np.count_nonzero(dense)


def test_structural_zeros_take_no_operations() -> None:
    counted = count(straight_line(example()))
    entries = INNER * COLUMNS - len(range(0, INNER * COLUMNS, 4)), ROWS * COLUMNS - len(range(1, ROWS * COLUMNS, 4))
    assert counted.mul == 40 + ROWS * entries[0] + COLUMNS * entries[1]


def test_products_belong_to_what_their_right_factor_belongs_to() -> None:
    """Whatever constants are left out of the numbers that it has."""
    function = example()
    made = function.graph
    labels = tuple(int(k in made.results[1]) for k in range(len(made.values)))  # those of the first right factor
    zero = len(made.values) - 1
    marked = replace(made, labels=(*labels[:zero], 2))
    first, _ = function.products
    whole = straight_line(WithProducts(marked, (first,), (first.port,)))
    assert {*whole.labels[len(made.values) + 1 :]} == {1}


def test_tiles_take_rows_that_meet_a_number() -> None:
    first, second = tiled(example())
    assert [tile[:2] for tile in first.tiles] == [(row, column) for column in (0, 1) for row in (0, 4)]
    assert all(first.rows[start:end] == (0, 1, 2) for *_, start, end in first.tiles)
    assert second.stored == {"y": COLUMNS, "kept1": COLUMNS, "kept2": COLUMNS}


def test_wide_tiles_are_twice_as_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """What they read is there, though narrow ones would do without."""
    monkeypatch.setattr(row_sums, "MOST", {8: 0, 4: 0, 1: 0})
    assert tiled(paired())[0].wide is None  # too small to be worth it
    monkeypatch.setattr(tiles, "LONG", 0)
    (loops,) = tiled(paired())
    assert loops.wide
    assert (loops.many, loops.width, loops.wide.many, loops.wide.width) == (4, 4, 8, 8)
    assert [*loops.wide.reads(), *replace(loops, wide=None).reads()] == [*loops.reads()]
    y = Port("y", (ROWS, 7))
    few = replace(
        example().graph,
        outputs=(Port("a", (ROWS, INNER)), Port("b", (INNER, 7))),
        results=((0,) * ROWS * INNER, (0,) * INNER * 7),
    )
    (others,) = tiled(WithProducts(few, (MatrixProduct(y, "a", "b"),), (y,)))
    assert others.wide is None


def test_tiles_leave_out_rows_without_numbers() -> None:
    """A left factor with two blocks on its diagonal: a tile takes what is in its rows."""
    on, off = Value(INPUT), Value(CONST)
    left = tuple(0 if row // 4 == column // 4 else 1 for row in range(8) for column in range(8))
    ports = (Port("left", (8, 8)), Port("right", (8, 8)))
    graph = Graph("g", (Port("x", (1,)),), ports, (on, off), (left, (0,) * 64))
    y = Port("y", (8, 8))
    (loops,) = tiled(WithProducts(graph, (MatrixProduct(y, "left", "right"),), (y,)))
    assert [loops.rows[start:end] for *_, start, end in loops.tiles] == [(0, 1, 2, 3), (4, 5, 6, 7)]


def test_zeros_that_no_loop_reads_are_not_stored() -> None:
    """Of the same example: what lies outside the blocks. Loops read everything else, and all results are stored."""
    on, off = Value(INPUT, port=0, element=0), Value(CONST)
    left = tuple(0 if row // 4 == column // 4 else 1 for row in range(8) for column in range(8))
    ports = (Port("left", (8, 8)), Port("kept", (8, 8)))
    graph = Graph("g", (Port("x", (1,)),), ports, (on, off), (left, (0,) * 64))
    y = Port("y", (8, 8))
    function = WithProducts(graph, (MatrixProduct(y, "left", "kept"),), (y,))
    found = unread(function)
    assert (found["left"].ravel() == np.array(left, bool)).all()
    assert not found["kept"].any()
    *_, emitted = emit_drafts(header(), ProductKernel(function), Style())
    text = "\n".join(emitted.variants[0].statements[0])
    assert "left[4]" not in text
    assert "left[0] = " in text
    assert "left" not in unread(replace(function, outputs=(y, ports[0])))


def test_zeros_of_products_that_no_loop_reads_are_not_computed() -> None:
    """Rows of zeros of a product between others; as a result it has them."""
    on, off = Value(INPUT, port=0, element=0), Value(CONST)
    left = tuple(0 if row < 4 else 1 for row in range(8) for _ in range(8))
    ports = (Port("left", (8, 8)), Port("right", (8, 8)))
    graph = Graph("g", (Port("x", (1,)),), ports, (on, off), (left, (0,) * 64))
    y, z = Port("y", (8, 8)), Port("z", (8, 8))
    products = (MatrixProduct(y, "left", "right"), MatrixProduct(z, "y", "right", transposed=True))
    inner, _ = tiled(WithProducts(graph, products, (z,)))
    whole, _ = tiled(WithProducts(graph, products, (y, z)))
    assert {row for row, *_ in inner.tiles} == {0}
    assert {row for row, *_ in whole.tiles} == {0, 4}
    assert {own.row for own in inner.vectors} == {*range(4)}
    assert {own.row for own in whole.vectors} == {*range(8)}


def test_narrow_products_are_straight_line_code_beside_wide_ones() -> None:
    x = SX.sym("x", 20, 3)
    narrow = Product(x, SX.sym("y", 3, 3))
    wide = Product(narrow, SX.sym("z", 3, 40))
    kept = with_products((wide,), (Port("w", (20, 40)),))
    assert [str(product) for product in kept.products] == ["w[20, 40] = kept0 @ kept1"]
    assert [port.shape for port in kept.ports] == [(20, 3), (3, 40)]
    assert all(isinstance(matrix, SX) for matrix in kept.matrices)


def paired() -> WithProducts:
    """y = a b and z = c + a d, of which d has a row of zeros."""
    function = example()
    graph, (first, _) = function.graph, function.products
    zero = len(graph.values) - 1
    d = tuple(zero if k < COLUMNS else 50 + k for k in range(INNER * COLUMNS))
    outputs, results = (*graph.outputs, Port("kept3", (INNER, COLUMNS))), (*graph.results, d)
    second = MatrixProduct(Port("z", (ROWS, COLUMNS)), "a", "kept3", "kept2")
    return WithProducts(
        replace(graph, outputs=outputs, results=results), (second, first), (second.port, graph.outputs[0], first.port)
    )


def test_products_of_one_left_factor_go_together() -> None:
    (loops,) = tiled(paired())
    assert [product.port.name for product in loops.products] == ["z", "y"]
    assert loops.width == 4
    assert loops.cycles < sum(alone.cycles for own in loops.products for alone in tiled(_only(own)))


def test_they_do_not_if_one_takes_the_other() -> None:
    y, z = Port("y", (COLUMNS, COLUMNS)), Port("z", (COLUMNS, COLUMNS))
    products = (MatrixProduct(y, "kept2", "kept1"), MatrixProduct(z, "kept2", "y"))
    assert [len(loops.products) for loops in tiled(replace(example(), products=products))] == [1, 1]


def narrow() -> WithProducts:
    """y = a b, of five columns, of which the second row of b has but one number."""
    function = example()
    columns, graph = 5, function.graph
    zero = len(graph.values) - 1
    b = tuple(zero if 5 <= k < 9 else 40 + k for k in range(INNER * columns))
    ports = (graph.outputs[0], Port("kept0", (INNER, columns)))
    made = replace(graph, outputs=ports, results=(graph.results[0], b))
    y, z = Port("y", (ROWS, columns)), Port("z", (columns, columns))
    products = (MatrixProduct(y, "a", "kept0"), MatrixProduct(z, "y", "y", transposed=True, symmetric=True))
    return WithProducts(drop_dead(made), products, (z, ports[0], y))


def test_small_products_take_vectors_of_what_their_rows_meet() -> None:
    """Zeros are multiplied where a vector has other numbers beside them, and nowhere else."""
    function = example()
    first, second = tiled(function)
    (b, d) = (np.array(interpret(function.graph, np.ones(40))[k]) != 0 for k in (1, 2))
    for loops, right, rows in ((first, b, ROWS), (second, d, COLUMNS)):
        starts = [*dict.fromkeys(own.column for own in loops.vectors)]
        assert starts == [0, 4, 5]
        met = rows * sum(right[:, at : at + 4].any(axis=1).sum() for at in starts)
        assert sum(len(own.inner) for own in loops.vectors) == met
        assert sum(len(own.inner) for own in loops.numbers) == rows * right.sum()
        assert [*dict.fromkeys(own.column for own in loops.eights)] == [0, 1]
        met = rows * sum(right[:, at : at + 8].any(axis=1).sum() for at in (0, 1))
        assert sum(len(own.inner) * own.rows for own in loops.eights) == met


def short() -> WithProducts:
    """The same of seven columns, in rows of eight numbers."""
    function, columns = narrow(), 7
    graph, zero = example().graph, len(example().graph.values) - 1
    b = tuple(zero if 7 <= k < 13 else 40 + k for k in range(INNER * columns))
    made = replace(graph, outputs=(graph.outputs[0], Port("kept0", (INNER, columns))), results=(graph.results[0], b))
    y, z = Port("y", (ROWS, columns)), Port("z", (columns, columns))
    first, second = function.products
    products = (replace(first, port=y), replace(second, port=z, left="kept0", right="kept0"))
    return padded(WithProducts(drop_dead(made), products, (z, graph.outputs[0], y)))


def test_vectors_reach_into_the_row_below() -> None:
    """Each but the last, which small vectors make; there are none where rows of the right factor are not as long."""
    for loops, rows, last in zip(tiled(short()), (ROWS, 7), ((0, 3), (3,)), strict=True):
        assert {loops.stored[own.right] for own in loops.products} == {8}
        assert [(own.row, own.column) for own in loops.eights if own.width == 8] == [
            (row, 0) for row in range(rows - 1)
        ]
        assert [(own.row, own.column) for own in loops.eights if own.width == 4] == [(rows - 1, at) for at in last]
    assert not any(loops.eights for loops in tiled(narrow()))


def test_columns_of_zeros_at_both_ends_are_stored_first() -> None:
    """Vectors of other columns may reach into them, and overwrite what is not theirs."""
    on, off = Value(INPUT), Value(CONST)
    right = tuple(0 if 2 <= k % 12 < 9 else 1 for k in range(36))
    ports = (Port("left", (3, 3)), Port("right", (3, 12)))
    graph = Graph("g", (Port("x", (1,)),), ports, (on, off), ((0,) * 9, right))
    y = Port("y", (3, 12))
    (loops,) = tiled(WithProducts(graph, (MatrixProduct(y, "left", "right"),), (y,)))
    vectors = dict.fromkeys((own.column, len(own.inner)) for own in loops.vectors)
    assert [*vectors] == [(0, 0), (8, 0), (2, 3), (6, 3)]
    eights = dict.fromkeys((own.column, len(own.inner)) for own in loops.eights)
    assert [*eights] == [(0, 0), (4, 0), (2, 3)]


def test_large_products_are_loops() -> None:
    ports = (Port("left", (50, 50)), Port("right", (50, 50)))
    graph = Graph("g", (Port("x", (1,)),), ports, (Value(INPUT),), ((0,) * 2500, (0,) * 2500))
    y = Port("y", (50, 50))
    (loops,) = tiled(WithProducts(graph, (MatrixProduct(y, "left", "right"),), (y,)))
    assert not loops.vectors
    assert not loops.numbers


def test_rows_that_meet_the_same_are_a_loop_of_vectors_of_eight() -> None:
    """Of an inverse of many limbs, of which two have the base in common, and nothing else."""
    n = 40
    on, off = Value(INPUT), Value(CONST)
    where = np.eye(n, dtype=bool) | (np.arange(n) < 2)[:, None]
    left = tuple(np.where(where, 0, 1).ravel().tolist())
    ports = (Port("left", (n, n)), Port("right", (n, n)))
    graph = Graph("g", (Port("x", (1,)),), ports, (on, off), (left, left))
    product = MatrixProduct(Port("y", (n, n)), "left", "right", transposed=True, symmetric=True)
    (loops,) = tiled(WithProducts(graph, (product,), (product.port,)))
    assert not loops.wide
    own, alone = ([x for x in loops.eights if (x.rows > 1) is several] for several in (True, False))
    assert [(x.row, x.column, x.rows, x.inner) for x in own] == [(0, at, at, (0, 1)) for at in range(8, n, 8)]
    expected = {(0, (0, 1)), (1, (0, 1)), *((k, (0, 1, k)) for k in range(2, n))}
    assert {(x.row, x.inner) for x in alone} == expected
    assert str(own[0]) == "row 0 and 7 more from column 8: 2 products"


def summing() -> WithProducts:
    """y = b' b + d d and z = c + b' e + d c, each in two steps."""
    function = paired()
    ends = Port("z", (COLUMNS, COLUMNS)), Port("y", (COLUMNS, COLUMNS))
    (z0, y0), (z, y) = (Port(f"kept{k}", ends[0].shape) for k in (4, 5)), ends
    products = (
        MatrixProduct(y, "kept1", "kept1", "kept5"),
        MatrixProduct(z, "kept1", "kept2", "kept4"),
        MatrixProduct(y0, "kept0", "kept0", transposed=True),
        MatrixProduct(z0, "kept0", "kept3", "kept2", transposed=True),
    )
    return replace(function, products=products, outputs=(z, function.graph.outputs[0], y))


def summed() -> WithProducts:
    """The same, each in one."""
    return fused(summing())


def squares() -> WithProducts:
    """z = b' b + d' d, of which the upper triangle is computed, and y = a b."""
    function, z = example(), Port("z", (COLUMNS, COLUMNS))
    own = MatrixProduct(z, "kept0", "kept0", transposed=True, symmetric=True, more=(Term("kept1", "kept1", True),))
    return replace(function, products=(own, function.products[0]), outputs=(z, *function.outputs[1:]))


def apart() -> WithProducts:
    """y = p + a b and z = r + a d of 21 columns; b and d lack five, where p and r have most of their few entries."""
    function, columns, first = example(), 21, 5
    graph, zero = function.graph, len(function.graph.values) - 1

    def lacking(shift: int) -> tuple[int, ...]:
        places = np.ndindex(INNER, columns)
        return tuple(zero if c < first else 40 + (shift + r * columns + c) % 40 for r, c in places)

    def few(*entries: tuple[int, int]) -> tuple[int, ...]:
        return tuple(45 + r if (r, c) in entries else zero for r, c in np.ndindex(ROWS, columns))

    made = {
        Port("a", (ROWS, INNER)): graph.results[0],
        Port("b", (INNER, columns)): lacking(3),
        Port("d", (INNER, columns)): lacking(17),
        Port("p", (ROWS, columns)): few((0, 1), (1, 4), (2, 5), (8, 20)),
        Port("r", (ROWS, columns)): few((1, 0), (1, 4)),
    }
    y, z = Port("y", (ROWS, columns)), Port("z", (ROWS, columns))
    products = (MatrixProduct(y, "a", "b", "p"), MatrixProduct(z, "a", "d", "r"))
    made_of = replace(graph, outputs=tuple(made), results=tuple(made.values()))
    return WithProducts(made_of, products, (z, graph.outputs[0], y))


def test_what_is_added_is_read_where_it_may_differ_from_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles begin with the first column of the right factors; zeros that reach into these come before."""
    (few,) = tiled(apart())
    for sums, number in ((few.vectors, 2), (few.numbers, 2), (few.eights, 1)):
        assert sum(own.plus for own in sums if own.product == 1) == number
    known = apart().patterns()
    monkeypatch.setattr(row_sums, "MOST", {8: 0, 4: 0, 1: 0})
    monkeypatch.setattr(tiles, "LONG", 0)
    assert not any(own.bare for own in tiled(apart()))  # too many
    monkeypatch.setattr(tiles, "FEW", 1)
    (loops,) = tiled(apart())
    for own in (loops, loops.wide):
        assert own
        assert own.bare
        assert not any(product.plus for product in own.bare.products)
        columns = [*dict.fromkeys(tile[1] for tile in (*own.tiles, *own.bare.tiles) if tile[2] < tile[3])]
        assert sorted(columns) == [*range(5, 21, own.width)]
        for row, column, *_ in own.bare.tiles:
            across = slice(column, column + own.width)
            assert not known["p"][row : row + own.block, across].any()
            assert not known["r"][row : row + own.block, across].any()


def test_products_that_are_only_added_are_terms() -> None:
    """Of the same operations, in the same order, with no array between them; two of the same left factors are loops."""
    before, after, x = summing(), summed(), np.linspace(-1.0, 2.0, 40)
    assert [str(own) for own in after.products] == [
        "y[9, 9] = kept0' @ kept0 + kept1 @ kept1",
        "z[9, 9] = kept2 + kept0' @ kept3 + kept1 @ kept2",
    ]
    assert {port.name for port in before.kept} - {port.name for port in after.kept} == {"kept4", "kept5"}
    assert count(straight_line(after)) == count(straight_line(before)) == counted(after) == counted(before)
    for one, other in zip(*(interpret(straight_line(own), x) for own in (before, after)), strict=True):
        np.testing.assert_array_equal(one, other)
    (loops,) = tiled(after)
    assert len(loops.products) == len(loops.products[0].terms) == 2


def test_products_that_something_else_takes_are_no_terms() -> None:
    function = summing()
    y, z, y0, z0 = function.products
    assert fused(replace(function, outputs=(*function.outputs, y0.port, z0.port))).products == (y, z, y0, z0)
    whole = Gather(Port("some", (2,)), "kept5", (0, 3))
    assert str(fused(replace(function, gathers=(whole,))).products[0]) == str(y)
    twice = MatrixProduct(Port("x", (9, 9)), "kept5", "kept2", "kept4")
    assert fused(replace(function, products=(*function.products, twice))).products[:4] == function.products
    half = replace(y0, symmetric=True)
    assert str(fused(replace(function, products=(y, z, half, z0))).products[0]) == str(y)


def test_terms_that_vanish_are_left_out() -> None:
    """And what only they take: z = c + b' e + 0 (a b), and y = a b of which nothing is left."""
    function = summed()
    graph, (_, z) = function.graph, function.products
    zeros = replace(graph, outputs=(*graph.outputs, Port("kept6", (9, 9))), results=(*graph.results, (80,) * 81))
    product = MatrixProduct(Port("kept7", (9, 9)), "kept1", "kept1")
    more = replace(z, more=(Term("kept6", "kept7"),))
    before = WithProducts(zeros, (more, product), (z.port,))
    after = without_vanishing(before)
    assert [str(own) for own in after.products] == ["z[9, 9] = kept2 + kept0' @ kept3"]
    assert [port.name for port in after.graph.outputs] == ["kept0", "kept2", "kept3"]
    x = np.linspace(-1.0, 2.0, 40)
    np.testing.assert_array_equal(*(interpret(straight_line(own), x)[0] for own in (before, after)))
    assert without_vanishing(function) is function
    alone = without_vanishing(replace(before, products=(MatrixProduct(z.port, "kept6", "kept2"),)))
    assert [str(own) for own in alone.products] == ["z[9, 9] = kept6 @ kept2"]


def test_on_one_foot_nothing_is_multiplied_by_forces_on_a_trunk() -> None:
    robot = codegen.load("solo12")
    made = pipeline.kernel(Task(robot, "pv_derivatives", contacts=(robot.contact("FL_FOOT", 3),)))
    assert isinstance(made, ProductKernel)
    known = made.function.patterns()
    assert all(known[port.name].any() for port in made.function.kept)
    assert counted(made.function) == made.count == count(straight_line(made.function))


def test_derivatives_of_constrained_dynamics_have_such_terms() -> None:
    robot = codegen.load("solo12")
    made = pipeline.kernel(Task(robot, "pv_derivatives", contacts=tuple(robot.contact(x, 3) for x in robot.tips[:2])))
    assert isinstance(made, ProductKernel)
    found = {own.port.name: len(own.terms) for own in made.function.products if isinstance(own, MatrixProduct)}
    assert found["da_dq"] == found["da_dv"] == found["dlam_dq"] == 2
    assert counted(made.function) == made.count == count(straight_line(made.function))


def _only(product: MatrixProduct) -> WithProducts:
    return replace(paired(), products=(product,), outputs=(product.port,))


EXAMPLES: dict[str, Callable[[], WithProducts]] = {
    "whole": example,
    "gathered": gathering,
    "paired": paired,
    "narrow": narrow,
    "summed": summed,
    "squares": squares,
    "apart": apart,
    "short": short,
}
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


def test_counts_are_those_of_the_straight_line_graph() -> None:
    robot = codegen.load("go1")
    made = pipeline.kernel(Task(robot, "aba_derivatives"))
    assert isinstance(made, ProductKernel)
    assert pipeline.counts(Task(robot, "aba_derivatives"))[1] == made.count
    assert made.count == count(codegen.graphs(robot, "aba_derivatives")[1])
    assert made.outputs[:3] == tuple(codegen.graphs(robot, "aba_derivatives")[1].outputs[:3])


def test_sparse_results_are_gathered_from_those_of_loops() -> None:
    robot = codegen.load("go1")
    whole, nonzeros = (codegen.build(robot, "aba_derivatives", sparse=sparse) for sparse in (False, True))
    q, v, tau = robot.random(np.random.default_rng(3))
    for name, own, dense in zip(("da_dq", "da_dv", "Minv"), nonzeros(q, v, tau), whole(q, v, tau), strict=True):
        assert (nonzeros.pattern(name).dense(own) == dense).all()
    assert isinstance(pipeline.kernel(Task(robot, "aba_derivatives", form=Form(sparse=True))), ProductKernel)


def test_few_multiplications_are_straight_line_code_without_vectors() -> None:
    iiwa = codegen.load("iiwa")
    assert isinstance(pipeline.kernel(Task(iiwa, "minverse")), Kernel)
    made = pipeline.kernel(Task(iiwa, "aba_derivatives"))
    assert isinstance(made, ProductKernel)
    assert all(loops.vectors and loops.numbers for loops in tiled(made.function))


def test_factors_are_not_multiplied_by_their_ones() -> None:
    """M^-1 = L' D^-1 L, of which L has ones on its diagonal: D^-1 L and a product with what is above them."""
    made = pipeline.kernel(Task(codegen.load("iiwa"), "aba_derivatives"))
    assert isinstance(made, ProductKernel)
    known, (inverse,) = made.function.patterns(), [own for own in made.function.products if own.symmetric]
    assert isinstance(inverse, MatrixProduct)
    assert inverse.plus == inverse.right
    assert not np.tril(known[inverse.left]).any()


def test_chain_rules_multiply_sparse_factors() -> None:
    """Steps multiply dtau/dq and dtau/dv, which are sparser than what the recursion of `aba_derivatives` makes."""
    _, emitted = pipeline.counts(Task(codegen.load("go1"), "step_rk4_derivatives"))
    assert emitted.total <= 208193


def test_results_column_by_column_take_no_more_operations() -> None:
    """S = a' a, y = d + b' c and z = y0 + S c are turned; what something else takes, and a b, are not."""
    ports = tuple(Port(name, (3, 3)) for name in "abcd")
    x = tuple(Value(INPUT, port=0, element=k) for k in range(36))
    graph = Graph("make", (Port("x", (36,)),), ports, x, tuple(tuple(range(9 * k, 9 * k + 9)) for k in range(4)))
    S, y0, y, z, w = (Port(name, (3, 3)) for name in ("S", "y0", "y", "z", "w"))
    products = (
        MatrixProduct(S, "a", "a", transposed=True, symmetric=True),
        MatrixProduct(y0, "b", "c", "d", transposed=True),
        MatrixProduct(y, "b", "c", transposed=True),
        MatrixProduct(z, "S", "c", "y0"),
        MatrixProduct(w, "a", "b"),
    )
    function = WithProducts(graph, products, (S, y, z, w))
    made = turned_products(function, ["y", "z", "w", "S"], "turned")
    assert made.graph.name == "turned"
    assert count(straight_line(made)) == count(straight_line(function))
    x_given = np.random.default_rng(0).random(36)
    before, after = (interpret(straight_line(own), x_given) for own in (function, made))
    for port, changed, old, new in zip(function.outputs, made.outputs, before, after, strict=True):
        assert (port != changed) == (port.name in ("y", "z"))
        np.testing.assert_allclose(new, old if port == changed else old.T)
    plain = turned(straight_line(function), ["w"], "plain")
    w_before, w_after = (own.results[-1] for own in (straight_line(function), plain))
    assert w_after == tuple(np.reshape(w_before, (3, 3)).T.ravel())


def test_transposes_share_what_their_matrices_share() -> None:
    x = SX.sym("x", 3, 3)
    S = Product(x, x, transposed=True, symmetric=True)
    shared = Product(S, x)
    matrices = (shared, Product(shared, x), Product(shared, 2 * x, x), S)
    made = transposes(matrices)
    assert made[3] is S
    assert all(isinstance(own, Product) and own.right is made[0] for own in made[1:3])
    for own, other in zip(entries(made), entries(matrices), strict=True):
        found = Function("f", [x], [own - other.T])(np.arange(9.0).reshape(3, 3))
        assert not np.array(found).any()
