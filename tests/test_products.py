"""Products of matrices in graphs: what they mean, and which operations they take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from casadi import SX, Function, diag
from product_cases import COLUMNS, INNER, ROWS, by_numpy, example, gathering, summed, summing

import codegen
from codegen import pipeline
from codegen.emission.spec import Kernel, ProductKernel
from codegen.emission.tiles import tiled
from codegen.ir.counted import counted
from codegen.ir.counting import count
from codegen.ir.fused import fused
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import INPUT
from codegen.ir.products import Gather, MatrixProduct, Term, WithProducts, straight_line
from codegen.ir.turned import turned, turned_products
from codegen.ir.vanishing import without_vanishing
from codegen.recursions.expansion import entries
from codegen.recursions.products import Product, combined, transposes
from codegen.tracing.products import with_products
from codegen.tracing.task import Task


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


def test_narrow_products_are_straight_line_code_beside_wide_ones() -> None:
    x = SX.sym("x", 20, 3)
    narrow = Product(x, SX.sym("y", 3, 3))
    wide = Product(narrow, SX.sym("z", 3, 40))
    kept = with_products((wide,), (Port("w", (20, 40)),))
    assert [str(product) for product in kept.products] == ["w[20, 40] = kept0 @ kept1"]
    assert [port.shape for port in kept.ports] == [(20, 3), (3, 40)]
    assert all(isinstance(matrix, SX) for matrix in kept.matrices)


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


def test_counts_are_those_of_the_straight_line_graph() -> None:
    robot = codegen.load("go1")
    made = pipeline.kernel(Task(robot, "aba_derivatives"))
    assert isinstance(made, ProductKernel)
    assert pipeline.counts(Task(robot, "aba_derivatives"))[1] == made.count
    assert made.count == count(codegen.graphs(robot, "aba_derivatives")[1])
    assert made.outputs[:3] == tuple(codegen.graphs(robot, "aba_derivatives")[1].outputs[:3])


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


@pytest.mark.thorough
def test_chain_rules_multiply_sparse_factors() -> None:
    """Steps multiply dtau/dq and dtau/dv, which are sparser than what the recursion of `aba_derivatives` makes."""
    _, emitted = pipeline.counts(Task(codegen.load("go1"), "step_rk4_derivatives"))
    assert emitted.total <= 201379


@pytest.mark.parametrize(("size", "stays"), [(27, False), (28, True)])
def test_products_of_plain_matrices_with_many_multiplications_stay_products(size: int, stays: bool) -> None:
    """From 20,000 on, of entries that may differ from zero."""
    left, right, plus = (SX.sym(name, size, size) for name in "abc")
    found = combined([(SX.eye(size), plus), (left, right)])
    assert isinstance(found, Product if stays else SX)
    assert isinstance(combined([(diag(left[:, 0]), right)]), SX)
    own = Function("own", [left, right, plus], [entries((found,))[0]])
    a, b, c = np.random.default_rng(2).standard_normal((3, size, size))
    np.testing.assert_allclose(np.array(own(a, b, c)), c + a @ b, rtol=1e-12, atol=1e-12)


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
