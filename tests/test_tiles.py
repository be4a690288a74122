"""Tiles and vectors of products of matrices: which entries the loops read, multiply and store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graph_cases import header
from product_cases import (
    COLUMNS,
    INNER,
    ROWS,
    apart,
    example,
    limbs,
    many_terms,
    narrow,
    paired,
    short,
    slanted,
    squares,
)

from codegen.emission import row_sums, tiles
from codegen.emission.emit import Style
from codegen.emission.kernels import emit_drafts
from codegen.emission.long_sums import LongSum, starts
from codegen.emission.spec import ProductKernel
from codegen.emission.tiles import reads_more_in_vectors, tiled, unread
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT
from codegen.ir.products import MatrixProduct, WithProducts


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


@pytest.mark.parametrize("terms", [1, 40])
def test_tables_of_tiles_have_whole_numbers_in_every_line(terms: int) -> None:
    """Also where a tile has more of them than a line takes."""
    (loops, *_) = tiled(example())
    numbers = tuple((*tile[:2], *range(1000 + n, 1002 + n + terms)) for n, tile in enumerate(loops.tiles))
    table = replace(loops, tiles=numbers).table
    assert all(len(line) <= tiles.TABLE for line in table)
    found = [int(number) for line in table for number in line.replace("{", "").replace("}", "").split(",") if number]
    assert found == [number for tile in numbers for number in tile]


def test_rows_that_meet_the_one_so_far_below_or_above_their_place_are_a_loop() -> None:
    """Four of them at least, where registers hold eight numbers; of what goes onto what it adds to, none above."""
    made = slanted()
    y, z = tiled(made)
    assert [(own.row, own.inner, own.rows) for own in y.eights if own.slides and not own.column] == [(2, (0,), 7)]
    assert [(own.row, own.inner, own.rows) for own in z.eights if own.slides and not own.column] == [(3, (4,), 5)]
    assert not any(own.slides for loops in (y, z) for own in loops.vectors)
    ((product,), (other,)), known = (loops.products for loops in (y, z)), made.patterns()
    sums = [row_sums.row_sums((replace(own, plus="kept2", onto=True),), known, 8) for own in (product, other)]
    assert [any(own.slides for own in found) for found in sums] == [False, True]


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


def test_products_of_one_left_factor_go_together() -> None:
    (loops,) = tiled(paired())
    assert [product.port.name for product in loops.products] == ["z", "y"]
    assert loops.width == 4
    assert loops.cycles < sum(alone.cycles for own in loops.products for alone in tiled(_only(own)))


def test_they_do_not_if_one_takes_the_other() -> None:
    y, z = Port("y", (COLUMNS, COLUMNS)), Port("z", (COLUMNS, COLUMNS))
    products = (MatrixProduct(y, "kept2", "kept1"), MatrixProduct(z, "kept2", "y"))
    assert [len(loops.products) for loops in tiled(replace(example(), products=products))] == [1, 1]


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
        assert sum(len(own.inner) * own.columns for own in loops.numbers) == rows * right.sum()
        assert [*dict.fromkeys(own.column for own in loops.eights)] == [0, 1]
        met = rows * sum(right[:, at : at + 8].any(axis=1).sum() for at in (0, 1))
        assert sum(len(own.inner) * own.rows for own in loops.eights) == met


def test_numbers_of_columns_that_meet_the_same_are_a_loop() -> None:
    """Those of a limb. Without small vectors, none of them reads a zero."""
    function = limbs()
    known, (loops, _) = function.patterns(), tiled(function)
    assert [*dict.fromkeys((own.column, own.columns) for own in loops.numbers)] == [(6, 3), (0, 3), (3, 3)]
    assert str(loops.numbers[-1]) == "row 8 from column 3 of 3: 1 products"
    assert any(not known[name][np.ix_(rows, columns)].all() for name, rows, columns in loops.read_in("vectors"))
    assert all(known[name][np.ix_(rows, columns)].all() for name, rows, columns in loops.read_in("numbers"))
    assert reads_more_in_vectors(function)


def test_zeros_of_such_columns_stay_where_one_is_read() -> None:
    (loops, _), zeros = tiled(limbs()), np.zeros((ROWS, COLUMNS), bool)
    zeros[:, 6] = True
    assert loops.without({"y": zeros}).numbers == loops.numbers
    zeros[:, 6:] = True
    assert loops.without({"y": zeros}).numbers == tuple(own for own in loops.numbers if own.column < 6)


def test_no_product_of_the_longest_functions_is_straight_line_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "HUGE", 0)
    monkeypatch.setattr(tiles, "LONG", 0)
    monkeypatch.setattr(tiles, "LONGER", 0)
    assert [bool(own.eights) for own in tiled(squares())] == [True, False]
    monkeypatch.setattr(tiles, "LONGEST", 0)
    monkeypatch.setattr(tiles, "ALONE", 0)
    for own in tiled(squares()):
        assert isinstance(own, tiles.Tiles)
        assert (own.many, own.width % 8, own.wide) == (8, 0, None)  # for all registers
        assert [own.eights, own.vectors, own.numbers] == [(), (), ()]


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


def _only(product: MatrixProduct) -> WithProducts:
    return replace(paired(), products=(product,), outputs=(product.port,))


def test_loops_go_over_the_terms_of_long_sums() -> None:
    """These have ends by rows and by columns, and read nothing but what lies between."""
    function = many_terms()
    y, z = tiled(function)
    assert isinstance(y, LongSum)
    assert isinstance(z, LongSum)
    assert str(z).endswith("in 6 x 3 tiles of 4 x 8")
    known, (first, _) = function.patterns(), function.products
    assert isinstance(first, MatrixProduct)
    for loops in (y, y.wide):
        assert loops
        for n, term in enumerate(first.terms):
            left, right = term.factors(known, first.port.shape)
            for top, own in zip(starts(21, 4), loops.down, strict=True):
                assert not np.delete(left[top : top + 4], slice(*own[n]), axis=1).any()
            for start, own in zip(starts(21, loops.width), loops.across, strict=True):
                assert not np.delete(right[:, start : start + loops.width], slice(*own[n]), axis=0).any()
    read = np.zeros((7, 21), bool)
    for name, rows, columns in z.reads():
        if name == "e":
            read[np.ix_(rows, columns)] = True
    assert read[known["e"]].all()
    assert not read.all()
