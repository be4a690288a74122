"""Matrices of blocks and systems of equations as results: in mathematics, as straight-line code, and in C."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from casadi import SX, Function, Sparsity, horzcat, vec
from compilers import COMPILERS
from graph_cases import header
from multiply_in_c import of_many_states, of_one_state
from thorough import diagonal

from codegen.backends import BACKENDS
from codegen.emission.emit import Style, emit_folder
from codegen.emission.spec import ProductKernel
from codegen.ir.counted import counted
from codegen.ir.counting import count
from codegen.ir.graph import Port, from_casadi
from codegen.ir.interpreter import interpret
from codegen.ir.products import WithProducts, straight_line
from codegen.ir.sparse import sparse
from codegen.recursions.block_matrix import BlockMatrix, Placed, above, beside, columns_of
from codegen.recursions.expansion import entries, multiplications
from codegen.recursions.products import Product, Result, added, combined, transposed
from codegen.recursions.scaling import scaled
from codegen.recursions.systems import Solved
from codegen.spatial import eliminated
from codegen.tracing.products import with_products

if TYPE_CHECKING:
    from pathlib import Path

    Array = np.ndarray

GIVEN, N, MANY = 30, 9, 25  # numbers, and rows of products and of systems
NUMBERS = np.random.default_rng(0).uniform(0.5, 1.5, GIVEN)


@dataclass(frozen=True)
class Case:
    """Results on the symbols x, and the same as expressions of CasADi's."""

    x: SX
    results: tuple[Result, ...]
    plain: tuple[SX, ...]

    def exact(self, numbers: Array) -> list[Array]:
        return [np.array(Function("f", [self.x], [x])(numbers)) for x in self.plain]


def drawn(x: SX, rows: int, columns: int, seed: int, zeros: float = 0.3) -> SX:
    """A matrix of functions of x and of zeros."""
    rng, made = np.random.default_rng(seed), SX(rows, columns)
    for at in np.argwhere(rng.random((rows, columns)) >= zeros):
        made[int(at[0]), int(at[1])] = float(rng.uniform(-1, 1)) * x[int(rng.integers(GIVEN))]
    return made


def of_a_tree(x: SX, seed: int) -> SX:
    """A matrix with entries for a joint and its carriers, numbered depth first."""
    rng, path, made = np.random.default_rng(seed), [0], 4 * SX.eye(MANY)
    for d in range(1, MANY):
        path = [*path[: 1 + int(rng.integers(len(path)))], d]
        for carrier in path:
            made[d, carrier] += float(rng.uniform(-0.3, 0.3)) * x[d]
            made[carrier, d] += float(rng.uniform(-0.3, 0.3)) * x[carrier]
    return made


def blocks() -> Case:
    """Of a product and plain matrices, some of their columns, a hole, and what is turned."""
    x = SX.sym("x", GIVEN)
    A, B, C = (drawn(x, N, N, seed) for seed in (1, 2, 3))
    made = Product(A, B)
    whole = above(beside(made, C), beside(C, made))
    plain = SX.zeros(2 * N, 2 * N)
    plain[:N, :N], plain[:N, N:], plain[N:, :N], plain[N:, N:] = A @ B, C, C, A @ B
    some = columns_of(whole, 3, N + 2)
    turned = BlockMatrix((N, 2 * N), (Placed(made, 0, 0, 0, N, True), Placed(C, 1, N, 2, 5, True)))
    below = SX.zeros(N, N)
    below[1:6, :] = C[:, 2:7].T
    results = (whole, some, turned, made)
    return Case(x, results, (plain, plain[:, 3 : N + 5], horzcat((A @ B).T, below), A @ B))


def systems() -> Case:
    """Of a tree's matrix and of a dense one, with and without something added, and a product with a solution."""
    x = SX.sym("x", GIVEN)
    K, D, B, P = of_a_tree(x, 5), of_all(x), drawn(x, MANY, 14, 7), drawn(x, MANY, 14, 8)
    tree, dense = Solved(K, B, P), Solved(D, B)
    L, exact = drawn(x, MANY, MANY, 9), P + eliminated(K, B)
    return Case(x, (tree, dense, Product(L, tree)), (exact, eliminated(D, B), L @ exact))


def of_all(x: SX) -> SX:
    """A matrix without zeros."""
    return 9 * SX.eye(MANY) + drawn(x, MANY, MANY, 6, 0.0) / 4


CASES = {"blocks": blocks(), "systems": systems()}


@cache
def traced(name: str) -> WithProducts:
    """The function of a case, as tracing makes it of large products."""
    case = CASES[name]
    outputs = [Port(f"y{k}", x.shape) for k, x in enumerate(case.results)]
    kept = with_products(case.results, outputs, 0)
    function = Function("f", [case.x], [vec(matrix.T) for matrix in kept.matrices], {"live_variables": False})
    graph = from_casadi(function, (Port("x", (GIVEN,)),), kept.ports, "multiply")
    return WithProducts(graph, kept.products, tuple(outputs))


@pytest.mark.parametrize("name", CASES)
def test_counts_are_those_of_straight_line_code(name: str) -> None:
    assert counted(traced(name)) == count(straight_line(traced(name)))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_entries_are_those_of_matrices(case: Case) -> None:
    found = Function("f", [case.x], list(entries(case.results)))(NUMBERS)
    for mine, exact in zip(found, case.exact(NUMBERS), strict=True):
        np.testing.assert_allclose(np.array(mine), exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_straight_line_code_says_what_they_mean(name: str) -> None:
    for mine, exact in zip(interpret(straight_line(traced(name)), NUMBERS), CASES[name].exact(NUMBERS), strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-12, atol=1e-12)


def test_solutions_are_those_of_numpy() -> None:
    case = CASES["systems"]
    A, B = (np.array(Function("f", [case.x], [x])(NUMBERS)) for x in (of_all(case.x), drawn(case.x, MANY, 14, 7)))
    np.testing.assert_allclose(case.exact(NUMBERS)[1], np.linalg.solve(A, B), rtol=1e-11, atol=1e-12)


def test_copies_take_no_operations_and_systems_few_of_a_tree() -> None:
    copied = count(straight_line(traced("blocks"))).total
    alone = with_products(CASES["blocks"].results[-1:], [Port("y", (N, N))], 0)
    assert copied < 2 * multiplications(CASES["blocks"].results[-1:]) + len(traced("blocks").graph.values)
    assert len(alone.products) == 1
    x = SX.sym("x", GIVEN)
    B = drawn(x, MANY, 14, 7)
    trees = [multiplications((Solved(K, B),)) for K in (of_a_tree(x, 5), of_all(x))]
    assert trees[0] < trees[1]
    assert trees[1] == sum(r * (r + 2 * 14 + 1) + 14 for r in range(MANY))


def test_nonzeros_are_gathered() -> None:
    function = traced("blocks")
    found = sparse(function, {port.name for port in function.outputs})
    results = interpret(straight_line(found), NUMBERS)
    for port, mine, exact in zip(found.outputs, results, CASES["blocks"].exact(NUMBERS), strict=True):
        assert port.pattern is not None
        np.testing.assert_allclose(port.pattern.dense(mine), exact, rtol=1e-12, atol=1e-12)


def test_results_can_be_scaled_and_added_to() -> None:
    """Products of one left factor keep one."""
    x = SX.sym("x", GIVEN)
    A, B, C, P = (drawn(x, N, N, seed) for seed in (1, 2, 3, 4))
    first = Product(A, B)
    pair = scaled((Product(first, C), Product(first, B, P)), x[0])
    assert all(isinstance(own, Product) for own in pair)
    assert len({id(own.left) for own in pair if isinstance(own, Product)}) == 1
    made = (*pair, added(pair[0], P), *scaled((above(first, C), Solved(4 * SX.eye(N) + A / 9, B, C)), x[1]))
    solved = eliminated(4 * SX.eye(N) + A / 9, B) + C
    plain = (
        x[0] * (A @ B @ C),
        x[0] * (A @ B @ B + P),
        x[0] * (A @ B @ C) + P,
        x[1] * SX(entries((above(first, C),))[0]),
        x[1] * solved,
    )
    case = Case(x, made, plain)
    found = Function("f", [x], list(entries(made)))(NUMBERS)
    for mine, exact in zip(found, case.exact(NUMBERS), strict=True):
        np.testing.assert_allclose(np.array(mine), exact, rtol=1e-12, atol=1e-12)


def test_sums_of_products_multiply_by_a_common_factor_once() -> None:
    """L' (L (Q X + V Y) + L Z), as derivatives of steps take it."""
    x = SX.sym("x", GIVEN)
    L, Q, V = (drawn(x, N, N, seed) for seed in (1, 2, 3))
    X, Y, Z = (drawn(x, N, 3 * N, seed) for seed in (4, 5, 6))
    S = 2 * L
    by_q, by_v, by_tau = (Product(S, right, transposed=True) for right in (Product(L, Q), Product(L, V), L))
    found = combined([(by_q, X), (by_v, Y), (by_tau, Z)])
    assert isinstance(found, Product)
    assert found.left is S
    assert isinstance(found.right, Product)
    assert found.right.left is L
    assert isinstance(found.right.right, SX)
    exact = S.T @ (L @ (Q @ X + V @ Y + Z))
    mine, theirs = (np.array(Function("f", [x], [own])(NUMBERS)) for own in (entries((found,))[0], exact))
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_blocks_and_solutions_have_transposes_and_patterns() -> None:
    case = CASES["blocks"]
    (found,) = entries((transposed(case.results[0]),))
    mine, exact = np.array(Function("f", [case.x], [found])(NUMBERS)), case.exact(NUMBERS)[0].T
    np.testing.assert_allclose(mine, exact, rtol=1e-12, atol=1e-12)
    assert Sparsity(found.sparsity()).shape == (2 * N, 2 * N)
    assert "at 0, 9" in str(case.results[0])
    assert "equations" in str(CASES["systems"].results[0])


@pytest.mark.parametrize(("compiler", "flags", "name"), diagonal(COMPILERS, [(), ("-DARM_PLAIN",)], [*CASES]))
def test_loops_compute_them(tmp_path: Path, compiler: str, flags: tuple[str, ...], name: str) -> None:
    files = emit_folder(header(), (ProductKernel(traced(name)),), Style())
    exact = CASES[name].exact(NUMBERS)
    got = of_one_state(files, "arm_multiply.c", tmp_path, compiler, flags, NUMBERS, [own.size for own in exact])
    np.testing.assert_allclose(got, np.concatenate([own.ravel() for own in exact]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("compiler", "name"), diagonal(COMPILERS, [*CASES], most=1))
def test_so_do_those_of_plain_c(tmp_path: Path, compiler: str, name: str) -> None:
    writer = BACKENDS["c_portable"]
    files = writer.folder(header(), (ProductKernel(traced(name)),), writer.style(Style()), {})
    exact = CASES[name].exact(NUMBERS)
    got = of_one_state(files, "arm.c", tmp_path, compiler, (), NUMBERS, [own.size for own in exact])
    np.testing.assert_allclose(got, np.concatenate([own.ravel() for own in exact]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("compiler", "dtype", "name"), diagonal(COMPILERS, ["float32", "float64"], [*CASES], most=1))
def test_many_states_in_lanes(tmp_path: Path, compiler: str, dtype: str, name: str) -> None:
    states = np.random.default_rng(5).uniform(0.5, 1.5, (7, GIVEN))
    out = of_many_states(ProductKernel(traced(name)), tmp_path, compiler, dtype, states)
    near = 1e-12 if dtype == "float64" else 1e-4
    for state, *found in zip(states, *out, strict=True):
        for mine, exact in zip(found, CASES[name].exact(state), strict=True):
            np.testing.assert_allclose(mine, exact, rtol=near, atol=near)
