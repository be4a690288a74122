"""Small graphs whose results are products of matrices, for the tests of what is made of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.fused import fused
from codegen.ir.graph import Graph, Port, Value
from codegen.ir.interpreter import interpret
from codegen.ir.operations import CONST, INPUT
from codegen.ir.padded import padded
from codegen.ir.products import MatrixProduct, Term, WithProducts
from codegen.ir.sparse import sparse
from codegen.passes import drop_dead

if TYPE_CHECKING:
    from collections.abc import Callable

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


def columns() -> WithProducts:
    """y = c + d x and z = d' y, of columns: rows of d lie in memory as they are multiplied, those of d' do not."""
    graph = example().graph
    (a, _, d, _), (kept_a, _, kept_d, _) = graph.results, graph.outputs
    x, c = (tuple(50 + k for k in range(start, start + ROWS)) for start in (0, 12))
    ports = kept_a, kept_d, Port("kept3", (COLUMNS, 1)), Port("kept4", (ROWS, 1))
    y, z = Port("y", (ROWS, 1)), Port("z", (COLUMNS, 1))
    products = (MatrixProduct(y, "kept1", "kept3", "kept4"), MatrixProduct(z, "kept1", "y", transposed=True))
    return WithProducts(drop_dead(replace(graph, outputs=ports, results=(a, d, x, c))), products, (z, kept_a, y))


def limbs() -> WithProducts:
    """z = c + y' b and y = a b, of which b has two blocks side by side, one below the other, and zeros beside them."""
    function, limb = example(), COLUMNS // INNER
    graph, zero = function.graph, len(function.graph.values) - 1
    b = tuple(40 + k if k // COLUMNS == k % COLUMNS // limb < 2 else zero for k in range(INNER * COLUMNS))
    first, second = function.products
    ends = MatrixProduct(second.port, "kept0", "kept0", "kept2", transposed=True)
    made = replace(graph, results=(graph.results[0], b, *graph.results[2:]))
    return WithProducts(drop_dead(made), (first, ends), function.outputs)


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


def slanted() -> WithProducts:
    """z = c + s d and y = t d: rows of s have the number below their place, or two, and those of t one above."""
    function = example()
    graph, zero = function.graph, len(function.graph.values) - 1

    def numbers(*entries: tuple[int, int]) -> tuple[int, ...]:
        return tuple(45 + r if (r, c) in entries else zero for r, c in np.ndindex(ROWS, ROWS))

    s = numbers((8, 0), (2, 7), *((r, r + 1) for r in range(ROWS - 1)))
    t = numbers(*((r, r - 2) for r in range(2, ROWS)))
    ports = (*graph.outputs, Port("s", (ROWS, ROWS)), Port("t", (ROWS, ROWS)))
    y, z = Port("y", (ROWS, COLUMNS)), Port("z", (ROWS, COLUMNS))
    products = (MatrixProduct(y, "t", "kept1"), MatrixProduct(z, "s", "kept1", "kept2"))
    made = replace(graph, outputs=ports, results=(*graph.results, s, t))
    return WithProducts(drop_dead(made), products, (z, graph.outputs[0], y))


def many_terms() -> WithProducts:
    """y = c + a b + d' d + ..., of five terms, and z = d' d + ..., of which the upper triangle is computed, of six.

    Rows of a, b and d have numbers in some places only, and those of a and d' are of different lengths.
    """
    graph, columns = example().graph, 21
    zero = len(graph.values) - 1

    def numbers(rows: int, columns: int, first: int, slope: int) -> tuple[int, ...]:
        places = np.ndindex(rows, columns)
        return tuple(40 + (first + 7 * r + c) % 40 if abs(c - slope * r) < 3 else zero for r, c in places)

    made = {
        Port("a", (columns, INNER)): numbers(columns, INNER, 1, 0),
        Port("b", (INNER, columns)): numbers(INNER, columns, 5, 9),
        Port("d", (7, columns)): numbers(7, columns, 3, 2),
        Port("e", (7, columns)): numbers(7, columns, 11, 3),
        Port("c", (columns, columns)): tuple(range(40, 80)) * 11 + (zero,),
    }
    turned = [Term(x, y, True) for x, y in ("de", "ed", "dd", "ee")]
    y, z = Port("y", (columns, columns)), Port("z", (columns, columns))
    products = (
        MatrixProduct(y, "a", "b", "c", more=tuple(turned)),
        MatrixProduct(z, "d", "d", transposed=True, symmetric=True, more=(*turned, Term("b", "b", True))),
    )
    made_of = replace(graph, outputs=tuple(made), results=tuple(made.values()))
    return WithProducts(made_of, products, (z, next(iter(made)), y))


EXAMPLES: dict[str, Callable[[], WithProducts]] = {
    "whole": example,
    "limbs": limbs,
    "columns": columns,
    "gathered": gathering,
    "paired": paired,
    "narrow": narrow,
    "summed": summed,
    "squares": squares,
    "apart": apart,
    "short": short,
    "slanted": slanted,
    "many terms": many_terms,
}
