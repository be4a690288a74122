"""The operations of functions with loops, without their straight-line code, of which there may be many millions.

They are those of `codegen.ir.products.expanded`: products of two numbers that may both differ from zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.block_matrix import CopiedMatrix
from codegen.ir.calls import GraphCall
from codegen.ir.counting import Count, added, count
from codegen.ir.factors import FactoredMatrix, Substitution
from codegen.ir.graph import Graph, Value
from codegen.ir.maps import GraphMap
from codegen.ir.operations import CONST, KINDS
from codegen.ir.products import MaskedMatrixProduct, MatrixProduct
from codegen.ir.systems import SolvedSystem, eliminations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from codegen.ir.graph import Port
    from codegen.ir.products import AnyProduct, WithProducts

    Known = dict[str, NDArray[np.bool_]]
    Numbers = NDArray[np.int_]


def counted(function: Graph | WithProducts) -> Count:
    """The operations of a function by class."""
    if isinstance(function, Graph):
        return count(function)
    known, found = _made(function.graph, function.graph.outputs), [count(function.graph)]
    known |= {port.name: np.ones((port.size, 1), bool) for port in function.inputs}
    for step in function.steps:
        if isinstance(step, GraphCall):
            known |= _made(step.graph, step.ports)
            found.append(count(step.graph))
        elif isinstance(step, GraphMap):
            known |= step.laid([*_made(step.kernel, step.kernel.outputs).values()])
            found.append(_times(count(step.kernel), step.count))
        else:
            found.append(_of_product(step, known))
    return added(found)


def _made(graph: Graph, ports: Iterable[Port]) -> Known:
    """Where what a graph makes may differ from zero, by these ports."""
    zero = Value(CONST)
    pairs = zip(ports, graph.results, strict=True)
    return {
        port.name: np.array([graph.values[k] != zero for k in own], bool).reshape(port.shape) for port, own in pairs
    }


def _times(one: Count, number: int) -> Count:
    return Count(*(number * getattr(one, kind) for kind in KINDS))


def _of_product(own: AnyProduct, known: Known) -> Count:
    """The operations of a product, whose pattern becomes known."""
    if isinstance(own, MatrixProduct):
        terms = np.sum([_terms(*term.factors(known, own.port.shape)) for term in own.terms], axis=0)
        terms = np.triu(terms) if own.symmetric else terms
        plus = known[own.plus][:, : own.port.shape[1]] if own.plus else np.zeros_like(terms, bool)
        found = _sums(terms, plus)
        pattern = (terms > 0) | plus
        known[own.port.name] = np.triu(pattern) | np.triu(pattern).T if own.symmetric else pattern
        return found
    if isinstance(own, MaskedMatrixProduct):
        parts = []
        for part in own.parts:
            terms = _terms(*part.factors(known))
            parts += [_sums(terms[row, start:stop], None) for row, start, stop in part.runs]
        known[own.port.name] = own.pattern(known)
        return added(parts)
    if isinstance(own, SolvedSystem):
        return _of_system(own, known)
    if isinstance(own, FactoredMatrix):
        known |= own.patterns()
        return _of_factors(own)
    if isinstance(own, Substitution):
        return _of_substitution(own, known)
    assert isinstance(own, CopiedMatrix), f"{own} is no product"
    known[own.port.name] = own.pattern(known)
    return Count()


def _terms(left: NDArray[np.bool_], right: NDArray[np.bool_]) -> Numbers:
    """How many products of two numbers each entry of a product has."""
    found: Numbers = np.rint(left.astype(float) @ right.astype(float)).astype(int)
    return found


def _sums(terms: Numbers, plus: NDArray[np.bool_] | None) -> Count:
    """Sums of so many products, to which something is added, or not."""
    first = 0 if plus is None else np.count_nonzero(plus & (terms > 0))
    return Count(add=int(terms.sum() - np.count_nonzero(terms) + first), mul=int(terms.sum()))


def _of_system(own: SolvedSystem, known: Known) -> Count:
    """The operations of a solution: those of numbers that may differ from zero."""
    H, x = known[own.matrix].copy(), known[own.right].copy()
    left, mul, add = eliminations(H), 0, 0

    def less(to: NDArray[np.bool_], row: NDArray[np.bool_]) -> int:
        to |= row
        return int(np.count_nonzero(row))

    for r in reversed(range(len(H))):
        for up in left[r]:
            if H[up, r]:
                own_row = np.zeros(len(H), bool)
                own_row[left[r]] = H[r, left[r]]
                taken = less(x[up], x[r]) + less(H[up], own_row)
                mul, add = mul + taken + 1, add + taken
    for r in range(len(H)):
        for c in left[r]:
            if H[r, c]:
                taken = less(x[r], x[c])
                mul, add = mul + taken, add + taken
        mul += int(np.count_nonzero(x[r]))
    if own.plus:
        add += int(np.count_nonzero(x & known[own.plus]))
        x |= known[own.plus]
    known[own.port.name] = x
    found, n = Count(add=add, mul=mul, div=len(H)), len(H)
    return added([found, Count(add=n + n - 1, mul=1 + n, other=2 * n)]) if own.vanishing else found


def _of_factors(own: FactoredMatrix) -> Count:
    """The operations of factors: of every pivot, rows below it less multiples of its own."""
    n = own.port.shape[0]
    below, pairs = n * (n - 1) // 2, (n - 1) * n * (n + 1) // 6
    found = Count(add=pairs, mul=below + pairs, div=n)
    if not own.vanishing:
        return found
    summed = 0 if own.vanishing.size else n - 1
    return added([found, Count(add=summed + n + n - 1, mul=1 + n, other=n)])


def _of_substitution(own: Substitution, known: Known) -> Count:
    """The operations of a substitution: those of numbers that may differ from zero."""
    given, found = own.given(known), own.pattern(known)
    known[own.port.name] = found
    n = len(found)
    if own.way == "scale":
        return Count(add=n if own.negative else 0, mul=int(np.count_nonzero(given)))
    after = np.arange(n)[::-1] if own.way == "forward" else np.arange(n)  # rows that a row leaves something of
    taken = int(after @ np.count_nonzero(found, axis=1))
    return Count(add=taken, mul=taken)
