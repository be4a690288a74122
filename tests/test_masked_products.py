"""Masked products: entry by entry one of several products or zero, in mathematics, as straight-line code, and in C."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from casadi import DM, SX, Function, Sparsity, vec
from compilers import COMPILERS
from graph_cases import header
from multiply_in_c import of_many_states, of_one_state
from thorough import diagonal

from codegen.backends import BACKENDS
from codegen.emission.emit import Style, emit_folder
from codegen.emission.masked_tiles import _alike
from codegen.emission.segments import Segments
from codegen.emission.spec import ProductKernel
from codegen.emission.tiles import tiled
from codegen.ir.counting import count
from codegen.ir.graph import Port, from_casadi
from codegen.ir.interpreter import interpret
from codegen.ir.products import WithProducts, straight_line
from codegen.ir.sparse import sparse
from codegen.recursions.expansion import entries, multiplications
from codegen.recursions.products import Masked, MaskedProduct, Product, Result, some_columns, times, transposed
from codegen.tracing.products import with_products

if TYPE_CHECKING:
    from pathlib import Path

    Array = np.ndarray

GIVEN = 30


@dataclass(frozen=True)
class Case:
    """Results on the symbols x, and what they should be for numbers in the place of x."""

    x: SX
    results: tuple[Result, ...]

    def exact(self, numbers: Array) -> list[Array]:
        """By dense matrices of NumPy's."""

        def dense(matrix: Result) -> Array:
            if isinstance(matrix, SX):
                return np.array(Function("f", [self.x], [matrix])(numbers))
            if isinstance(matrix, Product):
                left = dense(matrix.left).T if matrix.transposed else dense(matrix.left)
                return left @ dense(matrix.right) + (0 if matrix.plus is None else dense(matrix.plus))
            found = np.zeros(matrix.shape)
            for part in matrix.parts:
                product = (dense(part.left).T if part.transposed else dense(part.left)) @ dense(part.right)
                found += np.where(np.array(DM(part.mask, 1)) != 0, product, 0)
            return np.triu(found) + np.triu(found, 1).T if matrix.symmetric else found

        return [dense(result) for result in self.results]


class Drawn:
    """Matrices of functions of x and of zeros, and masks."""

    def __init__(self, seed: int) -> None:
        self.rng, self.x = np.random.default_rng(seed), SX.sym("x", GIVEN)

    def matrix(self, rows: int, columns: int, zeros: float = 0.2) -> SX:
        made = SX(rows, columns)
        for at in np.argwhere(self.rng.random((rows, columns)) >= zeros):
            made[int(at[0]), int(at[1])] = float(self.rng.uniform(0.5, 2)) * self.x[int(self.rng.integers(GIVEN))]
        return made

    def masks(self, rows: int, columns: int, parts: int) -> list[Sparsity]:
        """Disjoint ones, in runs."""
        last = parts
        owner = np.array([[last := self.drawn(parts, last) for _ in range(columns)] for _ in range(rows)])
        return [pattern(owner == part) for part in range(parts)]

    def drawn(self, parts: int, last: int) -> int:
        return last if self.rng.random() < 0.7 else int(self.rng.integers(parts + 1))

    def tree(self, n: int) -> Array:
        """Whether row and column are an ancestor and its descendant, or the same; numbered depth first."""
        path, found = [0], np.eye(n, dtype=bool)
        for d in range(1, n):
            path = [*path[: 1 + int(self.rng.integers(len(path)))], d]
            found[path, d] = True
        return found


def pattern(places: Array) -> Sparsity:
    return Sparsity.triplet(*places.shape, *(list(map(int, own)) for own in np.nonzero(places)))


def pairs_of_a_tree(seed: int, n: int) -> Case:
    """Q = upper(S' F) + lower(L' P) and V = upper(S' G) + lower(L' R)."""
    own = Drawn(seed)
    above = own.tree(n)
    upper, lower = pattern(above), pattern(np.tril(above.T, -1))
    S, F, G = (own.matrix(6, n) for _ in range(3))
    L, P, R = (own.matrix(9, n) for _ in range(3))
    results = (
        MaskedProduct((Masked(S, F, upper, True), Masked(L, P, lower, True))),
        MaskedProduct((Masked(S, G, upper, True), Masked(L, R, lower, True))),
    )
    return Case(own.x, results)


def anything(seed: int) -> Case:
    """Three parts of different sizes, one of them not transposed; and a part as a result beside it."""
    own = Drawn(seed)
    masks = own.masks(11, 14, 3)
    left, right = own.matrix(11, 5), own.matrix(5, 14)
    parts = (
        Masked(own.matrix(3, 11), own.matrix(3, 14), masks[0], True),
        Masked(left, right, masks[1]),
        Masked(own.matrix(1, 11), own.matrix(1, 14), masks[2], True),
    )
    return Case(own.x, (MaskedProduct(parts), right))


def symmetric(seed: int, n: int) -> Case:
    """A symmetric one, the product with it, and the sum with a product."""
    own = Drawn(seed)
    S = own.matrix(6, n)
    M = MaskedProduct((Masked(S, own.matrix(6, n), pattern(own.tree(n)), True),), symmetric=True)
    L = own.matrix(n, n, 0.6)
    others = (
        MaskedProduct((Masked(S[:, :k], S[:, :k], pattern(np.triu(np.ones((k, k), bool))), True),), symmetric=True)
        for k in (8, 9, 10, 11)
    )
    changed = Product(L, M, transposed=True), Product(L, own.matrix(n, 9), plus=some_columns(M, [*range(9)]))
    return Case(own.x, (M, *changed, *others))


def units(seed: int, n: int) -> Case:
    """Rows of which the first six are those of the right factor, in another order and scaled."""
    own = Drawn(seed)
    above = own.tree(n)
    above[:6, 6:], above[:6, :6] = True, np.triu(np.ones((6, 6), bool))
    E, F, S = SX(6, n), own.matrix(6, n), own.matrix(6, n)
    for row, k in enumerate((3, 4, 5, 0, 1, 2)):
        E[k, row] = own.x[row]
    first = above & (np.arange(n) < 6)[:, None]
    parts = Masked(E, F, pattern(first), True), Masked(S, F, pattern(above & ~first), True)
    lower = Masked(own.matrix(9, n), own.matrix(9, n), pattern(np.tril(above.T, -1)), True)
    return Case(own.x, (MaskedProduct((*parts, lower)),))


def whole(seed: int, n: int) -> Case:
    """All entries of a product, and no part without any."""
    own = Drawn(seed)
    parts = (
        Masked(own.matrix(6, n), own.matrix(6, n), pattern(np.ones((n, n), bool)), True),
        Masked(own.matrix(3, n), own.matrix(3, n), pattern(np.zeros((n, n), bool)), True),
    )
    return Case(own.x, (MaskedProduct(parts),))


CASES = {
    "symmetric of 21": symmetric(9, 21),
    "pairs": pairs_of_a_tree(1, 13),
    "pairs of 16": pairs_of_a_tree(2, 16),
    "pairs of 21": pairs_of_a_tree(7, 21),
    "units": units(8, 19),
    "whole": whole(5, 16),
    "anything": anything(3),
    "symmetric": symmetric(4, 15),
}


@cache
def traced(name: str) -> WithProducts:
    """The function of a case, as tracing makes it of large products."""
    case = CASES[name]
    outputs = [Port(f"y{k}", x.shape) for k, x in enumerate(case.results)]
    kept = with_products(case.results, outputs, 0)
    function = Function("f", [case.x], [vec(matrix.T) for matrix in kept.matrices], {"live_variables": False})
    graph = from_casadi(function, (Port("x", (GIVEN,)),), kept.ports, "multiply")
    return WithProducts(graph, kept.products, tuple(outputs))


NUMBERS = np.random.default_rng(0).uniform(-1, 1, GIVEN)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_entries_are_those_of_the_products(case: Case) -> None:
    found = Function("f", [case.x], list(entries(case.results)))(NUMBERS)
    for mine, exact in zip(found if isinstance(found, tuple) else [found], case.exact(NUMBERS), strict=True):
        np.testing.assert_allclose(np.array(mine), exact, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_they_can_be_transposed_cut_and_multiplied(case: Case) -> None:
    """The first of the results, of which one is symmetric."""
    made, (exact, *_) = case.results[0], case.exact(NUMBERS)
    places = [3, 0, 7]
    constant = SX(DM(np.random.default_rng(1).uniform(size=(made.shape[1], 4))))
    wanted = [exact.T, exact[:, places], exact @ np.array(DM(constant)), exact[:, places].T]
    found = [
        transposed(made),
        some_columns(made, places),
        times(made, constant),
        transposed(some_columns(made, places)),
    ]
    for own, numbers in zip(found, wanted, strict=True):
        assert own.shape == numbers.shape
        got = np.array(Function("f", [case.x], [*entries((own,))])(NUMBERS))
        np.testing.assert_allclose(got, numbers, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_straight_line_code_says_what_they_mean(name: str) -> None:
    found = interpret(straight_line(traced(name)), NUMBERS)
    for mine, exact in zip(found, CASES[name].exact(NUMBERS), strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", ["pairs", "anything"])
def test_counts_are_those_of_wanted_entries_without_zeros(name: str) -> None:
    """k multiplications and k - 1 additions for each."""
    function = traced(name)
    mul = add = 0
    for product in CASES[name].results:
        for part in product.parts if isinstance(product, MaskedProduct) else ():
            left, right = (DM(x.sparsity(), 1) for x in (part.left, part.right))
            terms = np.array((left.T if part.transposed else left) @ right) * np.array(DM(part.mask, 1))
            mul, add = mul + terms.sum(), add + np.maximum(terms - 1, 0).sum()
    whole, factors = count(straight_line(function)), count(function.graph)
    assert (whole.mul - factors.mul, whole.add - factors.add) == (mul, add)
    assert multiplications(CASES[name].results) == mul


def test_two_of_the_same_left_factors_and_masks_go_together() -> None:
    (loops,) = tiled(traced("pairs"))
    assert isinstance(loops, Segments)
    assert [own.port.name for own in loops.products] == ["y0", "y1"]
    for row in range(13):
        own = [(start, end) for at, _, start, end in loops.segments if at == row]
        assert [start for start, _ in own] == [0, *(end for _, end in own[:-1])]
        assert own[-1][1] == 13


@pytest.mark.parametrize("name", ["pairs of 16", "pairs of 21", "units", "symmetric of 21"])
def test_tiles_have_every_entry(name: str) -> None:
    """Each at the places of its parts, with zeros where there are none; many rows of the same masks are not cut."""
    loops = next(own for own in tiled(traced(name)) if isinstance(own, Segments) and own.wide)
    product, found, wanted = loops.products[0], np.full(loops.size, np.nan), np.zeros(loops.size)
    for own in loops.wide:
        for row, masks in zip(own.rows, own.masks, strict=True):
            owners = np.zeros(8)
            for k, mask in zip(own.parts, masks, strict=True):
                assert any(mask)
                assert not owners[[*mask]].any()
                owners[[*mask]] = k + 1
            assert np.isnan(found[row, own.column]) or own.column + 8 == loops.size[1]
            found[row, own.column : own.column + 8] = owners
    for k, part in enumerate(product.parts, 1):
        for row, start, stop in part.runs:
            wanted[row, start:stop] = k
    if product.symmetric:
        found = np.triu(found)
    np.testing.assert_array_equal(found, wanted)
    order = [(own.column, own.parts) for own in loops.wide]
    assert order == sorted(order)


def test_many_rows_of_the_same_masks_have_a_loop() -> None:
    on, off = (True,) * 8, (False,) * 8
    ends = [(on[:k] + off[k:], off) for k in (1, 2, 2, 3)]
    both, one = (ends[0][0], off[:1] + on[1:]), (on, off)
    found = [*_alike(16, [*ends, one, one, one, one, *ends[:1], both, (off, off)])]
    assert [(own.rows, own.parts, len({*own.masks})) for own in found] == [
        (range(4), (0,), 3),
        (range(4, 8), (0,), 1),
        (range(8, 9), (0,), 1),
        (range(9, 10), (0, 1), 1),
        (range(10, 11), (), 1),
    ]
    assert str(found[3]) == "1 rows from 9, 16: parts 0, 1"


def test_rows_with_one_number_are_not_multiplied_by_zeros() -> None:
    (loops,) = tiled(traced("units"))
    assert isinstance(loops, Segments)
    assert loops.only == ((3, 4, 5, 0, 1, 2), (), ())


@pytest.mark.parametrize("name", CASES)
def test_nonzeros_are_gathered(name: str) -> None:
    function = traced(name)
    found = sparse(function, {port.name for port in function.outputs})
    results = interpret(straight_line(found), NUMBERS)
    for port, mine, exact in zip(found.outputs, results, CASES[name].exact(NUMBERS), strict=True):
        assert port.pattern is not None
        np.testing.assert_allclose(port.pattern.dense(mine), exact, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("compiler", "flags", "name"),
    diagonal(COMPILERS, [(), ("-DARM_PLAIN",), ("-march=native", "-DRIGIDC_512")], [*CASES]),
)
def test_loops_compute_them(tmp_path: Path, compiler: str, flags: tuple[str, ...], name: str) -> None:
    check(
        emit_folder(header(), (ProductKernel(traced(name)),), Style()),
        "arm_multiply.c",
        tmp_path,
        compiler,
        flags,
        name,
    )


@pytest.mark.parametrize(("compiler", "name"), diagonal(COMPILERS, ["anything", "symmetric", "pairs"]))
def test_so_do_those_of_plain_c(tmp_path: Path, compiler: str, name: str) -> None:
    writer = BACKENDS["c_portable"]
    files = writer.folder(header(), (ProductKernel(traced(name)),), writer.style(Style()), {})
    check(files, "arm.c", tmp_path, compiler, (), name)


def check(files: dict[str, str], source: str, folder: Path, compiler: str, flags: tuple[str, ...], name: str) -> None:
    exact = CASES[name].exact(NUMBERS)
    got = of_one_state(files, source, folder, compiler, flags, NUMBERS, [own.size for own in exact])
    np.testing.assert_allclose(got, np.concatenate([own.ravel() for own in exact]), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("compiler", "dtype", "name"),
    diagonal(COMPILERS, ["float32", "float64"], ["anything", "pairs", "symmetric"], most=2),
)
def test_many_states_in_lanes(tmp_path: Path, compiler: str, dtype: str, name: str) -> None:
    states = np.random.default_rng(5).uniform(-1, 1, (7, GIVEN))
    out = of_many_states(ProductKernel(traced(name)), tmp_path, compiler, dtype, states)
    for state, *found in zip(states, *out, strict=True):
        for mine, exact in zip(found, CASES[name].exact(state), strict=True):
            np.testing.assert_allclose(mine, exact, rtol=0, atol=1e-12 if dtype == "float64" else 1e-4)
