"""Factors of symmetric matrices and what is solved by them, and by elimination: as straight-line code, in C, and with
what goes on."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from casadi import SX, Function, sum1, trace, vec
from compilers import COMPILERS
from graph_cases import header
from multiply_in_c import of_many_states, of_one_state
from thorough import diagonal

from codegen.backends import BACKENDS
from codegen.emission.emit import Style, emit_folder
from codegen.emission.spec import ProductKernel
from codegen.ir.counted import counted
from codegen.ir.counting import count
from codegen.ir.graph import STATUS, Port, from_casadi
from codegen.ir.interpreter import interpret
from codegen.ir.merged import merged
from codegen.ir.products import WithProducts, straight_line
from codegen.recursions.factors import LoopedLDL, NumberedLDL
from codegen.recursions.products import Product, Result
from codegen.recursions.scaling import negated
from codegen.recursions.systems import Factored, Solved
from codegen.spatial.solve import VANISHING
from codegen.tracing.products import with_loops, with_products
from codegen.tracing.sharing import Sharing
from codegen.tracing.stages import Stages
from codegen.tracing.status import with_status

if TYPE_CHECKING:
    from pathlib import Path

    Array = np.ndarray

N, COLUMNS = 25, 9  # rows, as many as loops solve, and columns of right sides
RNG = np.random.default_rng(3)
BASE, WIDE = RNG.uniform(-1, 1, (N, N)), RNG.uniform(-1, 1, (N, COLUMNS))
NUMBERS = RNG.uniform(0.5, 1.5, N)
DEPENDENT = 7  # the row that is that before it

CASES = ("definite", "semidefinite", "sized", "unsymmetric")


def matrix(x: SX, name: str) -> SX:
    """A symmetric matrix of functions of x, one of whose rows depends on another unless it is definite."""
    base = BASE.copy()
    if name != "definite":
        base[DEPENDENT] = base[DEPENDENT - 1]
    rows = SX(base) @ SX(base.T) + (N * SX.eye(N) if name == "definite" else SX(N, N))
    scale = SX(x)
    if name != "definite":
        scale[DEPENDENT] = x[DEPENDENT - 1]
    return rows * (scale @ scale.T)


def unsymmetric(x: SX) -> SX:
    """A matrix with pivots of both signs, one of whose rows is a multiple of the next."""
    base = BASE + N * np.eye(N)
    base[DEPENDENT - 1] = base[DEPENDENT]
    base[[2, -1]] *= -1
    return x * SX(base)


def solution(numbers: Array) -> list[Array]:
    """That of B and what is added, without the row that depends on the next; then the status."""
    x = SX.sym("x", N)
    A = np.array(Function("A", [x], [unsymmetric(x)])(numbers))
    left, found = [k for k in range(N) if k != DEPENDENT - 1], WIDE.copy()
    found[left] += np.linalg.solve(A[np.ix_(left, left)], (WIDE * numbers[:, None])[left])
    return [found, np.array(1.0)]


def exact(numbers: Array, name: str) -> list[Array]:
    """The results at these numbers."""
    if name == "unsymmetric":
        return solution(numbers)
    x = SX.sym("x", N)
    A = np.array(Function("A", [x], [matrix(x, name)])(numbers))
    left = [k for k in range(N) if name == "definite" or k != DEPENDENT]
    inverse, half = np.zeros((N, N)), np.zeros((N, N))
    inverse[np.ix_(left, left)] = np.linalg.inv(A[np.ix_(left, left)])
    root = np.linalg.cholesky(A[np.ix_(left, left)])
    half[np.ix_(left, left)] = -np.linalg.inv(root) / np.diag(root)[:, None]
    B = WIDE * numbers[:, None]
    once = inverse @ numbers
    results = [inverse @ B, half, (inverse @ (numbers**3 + once * numbers))[:, None], np.sum(once)[None, None]]
    return [*results, *([] if name == "definite" else [np.array(1.0)])]


@cache
def traced(name: str) -> WithProducts:
    """Solutions of many columns and of one, -D^-1 L^-1, and a solution for what is made of another."""
    x = SX.sym("x", N)
    sharing, A = Sharing([x]), matrix(x, name)
    size = SX(2.0) * A[0, 0] if name == "sized" else None
    if name == "unsymmetric":
        return looped(x, (Solved(unsymmetric(x), SX(WIDE) * x, SX(WIDE), trace(matrix(x, "definite"))),))
    factors = LoopedLDL(Factored(A, 0.0 if name == "definite" else VANISHING, size))
    once = NumberedLDL(factors, sharing.numbers).solve(x)
    again = NumberedLDL(factors, sharing.numbers).solve(x * x * x + once * x)
    B = SX(WIDE) * x
    half = negated(factors.scale(factors.forward(SX.eye(N))))
    return looped(x, (factors.solve(B), half, again, sum1(once)), sharing.opened)


def looped(x: SX, results: tuple[Result, ...], opened: tuple[tuple[SX, Result], ...] = ()) -> WithProducts:
    """The function of x that has these results."""
    outputs = tuple(Port(f"y{k}", tuple(own.shape)) for k, own in enumerate(results))
    kept = with_products(results, outputs, 0, Stages((x,), (Port("x", (N,)),), opened))
    function = Function("f", [x, *kept.symbols], [vec(own.T) for own in kept.matrices], {"live_variables": False})
    graph = from_casadi(function, (Port("x", (N,)), *kept.opened), kept.ports, "multiply")
    found = merged(with_loops(with_status(graph), kept, outputs))
    assert isinstance(found, WithProducts)
    return found


def near(mine: Array, theirs: Array, tolerance: float = 1e-11) -> None:
    np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance * max(1.0, np.abs(theirs).max()))


@pytest.mark.parametrize("name", CASES)
def test_counts_are_those_of_straight_line_code(name: str) -> None:
    assert counted(traced(name)) == count(straight_line(traced(name)))


@pytest.mark.parametrize("name", CASES)
def test_straight_line_code_says_what_they_mean(name: str) -> None:
    """A row that depends on another is left out, and the status tells."""
    assert (STATUS in traced(name).outputs) is (name != "definite")
    for mine, theirs in zip(interpret(straight_line(traced(name)), NUMBERS), exact(NUMBERS, name), strict=True):
        near(mine, theirs)


def test_numbers_are_taken_once_where_expressions_go_on() -> None:
    """What a later stage needs of the first is kept there, and its matrix is factorised once."""
    found = traced("definite")
    assert [type(step).__name__ for step in found.steps].count("FactoredMatrix") == 1
    (later,) = (own for own in found.products if "stage1" in str(own))
    assert {*later.takes} & {port.name for port in found.graph.outputs}
    assert not any(value.op == "div" for graph in (found.graph, *found.called) for value in graph.values)
    assert [graph.name for graph in found.called] == ["stage1", "stage2"]
    assert "factors of" in str(next(own for own in found.products if "factors of" in str(own)))


def test_the_same_factors_serve_expressions_and_loops() -> None:
    """Few rows are expressions, as everywhere."""
    x = SX.sym("x", N)
    sharing = Sharing([x])
    factors = sharing.factors(Product(SX(BASE) * x, SX(BASE) * x, SX.eye(N), transposed=True, symmetric=True))
    assert isinstance(factors.solve(x), SX)
    assert not sharing.many(N)
    assert not sharing.opened
    assert isinstance(sharing.ldl(matrix(x, "definite")).solve(x), SX)


@pytest.mark.parametrize(
    ("compiler", "flags", "name"),
    diagonal(COMPILERS, [("-march=native", "-DRIGIDC_512"), (), ("-DARM_PLAIN",)], [*CASES]),
)
def test_loops_compute_them(tmp_path: Path, compiler: str, flags: tuple[str, ...], name: str) -> None:
    files = emit_folder(header(), (ProductKernel(traced(name)),), Style())
    theirs = [own.ravel() for own in exact(NUMBERS, name)]
    got = of_one_state(files, "arm_multiply.c", tmp_path, compiler, flags, NUMBERS, [own.size for own in theirs])
    near(got, np.concatenate(theirs))


@pytest.mark.parametrize(("compiler", "name"), diagonal(COMPILERS, [*CASES], most=1))
def test_so_do_those_of_plain_c(tmp_path: Path, compiler: str, name: str) -> None:
    writer = BACKENDS["c_portable"]
    files = writer.folder(header(), (ProductKernel(traced(name)),), writer.style(Style()), {})
    theirs = [own.ravel() for own in exact(NUMBERS, name)]
    got = of_one_state(files, "arm.c", tmp_path, compiler, (), NUMBERS, [own.size for own in theirs])
    near(got, np.concatenate(theirs))


@pytest.mark.parametrize(("compiler", "dtype", "name"), diagonal(COMPILERS, ["float32", "float64"], [*CASES], most=1))
def test_many_states_in_lanes(tmp_path: Path, compiler: str, dtype: str, name: str) -> None:
    states = np.random.default_rng(5).uniform(0.5, 1.5, (7, N))
    name = "definite" if dtype == "float32" else name  # rounding of which is above what counts as vanishing
    out = of_many_states(ProductKernel(traced(name)), tmp_path, compiler, dtype, states)
    for k, state in enumerate(states):
        for mine, theirs in zip(out, exact(state, name), strict=True):
            near(mine[k], theirs, 1e-11 if dtype == "float64" else 1e-3)
