"""Results that are products of matrices, stated as such: C computes large ones by loops, not entry by entry."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

from casadi import DM, SX, Function, Sparsity, sparsify

from codegen.spatial import mirrored

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Product:
    """plus + left @ right (left' if `transposed`). All may be sparse, or products themselves.

    Of a `symmetric` one, only the upper triangle is computed.
    """

    left: SX | Product
    right: SX | Product
    plus: SX | Product | None = None
    transposed: bool = False
    symmetric: bool = False

    def __str__(self) -> str:
        inner = self.right.shape[0]
        added = "" if self.plus is None else "a matrix + "
        return f"{added}({self.shape[0]} x {inner}) @ ({inner} x {self.shape[1]})"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        return (self.left.shape[1 if self.transposed else 0], self.right.shape[1])

    @property
    def factors(self) -> tuple[SX | Product, ...]:
        """The matrices that it takes: left, right and what is added, if anything is."""
        return (self.left, self.right) if self.plus is None else (self.left, self.right, self.plus)


Result = SX | Product


def times(matrix: Result, right: SX) -> Result:
    """A result times a matrix, which goes to the factors on the right."""
    if isinstance(matrix, SX):
        return matrix @ right
    plus = None if matrix.plus is None else times(matrix.plus, right)
    return replace(matrix, right=times(matrix.right, right), plus=plus, symmetric=False)


class Pulled(NamedTuple):
    """J' B as R' Y, for the last factor R of a product J."""

    R: Result
    Y: Result


def pulled(J: Result, B: SX, known: dict[tuple[int, int, bool], Result]) -> Pulled:
    """J' B by J's factors from the left, one after the other; `known` has what was made of the same ones before."""
    Y: Result = B
    while isinstance(J, Product) and J.plus is None:
        key = id(J.left), id(Y), J.transposed
        Y = known.setdefault(key, Product(J.left, Y, transposed=not J.transposed))
        J = J.right
    return Pulled(J, Y)


def transposed(matrix: Result) -> Result:
    """The transpose of a result, of the same factors."""
    if isinstance(matrix, SX):
        return matrix.T
    right = matrix.left if matrix.transposed else transposed(matrix.left)
    plus = None if matrix.plus is None else transposed(matrix.plus)
    return Product(matrix.right, right, plus, transposed=True, symmetric=matrix.symmetric)


def some_columns(matrix: Result, places: list[int]) -> Result:
    """These columns of a result."""
    if isinstance(matrix, SX):
        return matrix[:, places]
    plus = None if matrix.plus is None else some_columns(matrix.plus, places)
    return replace(matrix, right=some_columns(matrix.right, places), plus=plus, symmetric=False)


def substituted(results: tuple[Result, ...], old: Sequence[SX], new: Sequence[SX]) -> tuple[Result, ...]:
    """The results with expressions in the place of symbols, all at once."""
    parts = [*results, *(factor for own in products_in(results) for factor in own.factors)]
    plain = {id(part): part for part in parts if isinstance(part, SX)}
    moved = Function("moved", [*old], [*plain.values()]).call([*new], True, False)
    known: dict[int, Result] = dict(zip(plain, moved, strict=True))
    for own in products_in(results):
        left, right, *plus = (known[id(factor)] for factor in own.factors)
        known[id(own)] = replace(own, left=left, right=right, plus=next(iter(plus), None))
    return tuple(known[id(result)] for result in results)


def products_in(results: tuple[Result, ...]) -> list[Product]:
    """The products among results and those that these take, each once and after what it takes."""
    found: dict[int, Product] = {}

    def visit(matrix: Result) -> None:
        if isinstance(matrix, Product) and id(matrix) not in found:
            for factor in matrix.factors:
                visit(factor)
            found[id(matrix)] = matrix

    for result in results:
        visit(result)
    return list(found.values())


def multiplications(results: tuple[Result, ...]) -> int:
    """Products of two numbers that the products of matrices among results and within these take, without zeros."""
    known: dict[int, Sparsity] = {}
    total = 0
    for own in products_in(results):
        left, right = (_pattern(factor, known) for factor in own.factors[:2])
        left = left.T if own.transposed else left
        terms = left @ right
        known[id(own)] = terms.sparsity()
        if own.plus is not None:
            known[id(own)] = known[id(own)] + _pattern(own.plus, known).sparsity()
        total += int(sum(terms.nonzeros())) // (2 if own.symmetric else 1)
    return total


def _pattern(matrix: Result, known: dict[int, Sparsity]) -> DM:
    """Ones where a matrix may differ from zero."""
    return DM(known[id(matrix)] if isinstance(matrix, Product) else sparsify(matrix).sparsity(), 1)


def unrolled(results: tuple[Result, ...], least: float = math.inf) -> tuple[Result, ...]:
    """The results, with products of fewer than `least` columns entry by entry, if they take no wider ones."""
    known: dict[int, Result] = {}

    def now(matrix: Result) -> Result:
        return known[id(matrix)] if isinstance(matrix, Product) else matrix

    for own in products_in(results):
        factors = tuple(map(now, own.factors))
        plain = [factor for factor in factors if isinstance(factor, SX)]
        if own.shape[1] < least and len(plain) == len(factors):
            known[id(own)] = _multiplied(own, *plain)
        else:
            known[id(own)] = replace(own, left=factors[0], right=factors[1], plus=next(iter(factors[2:]), None))
    return tuple(map(now, results))


def _multiplied(own: Product, left: SX, right: SX, *plus: SX) -> SX:
    """A product of these matrices, entry by entry."""
    made = sum(plus, sparsify(left.T if own.transposed else left) @ sparsify(right))
    return mirrored(made) if own.symmetric else made


def entries(results: tuple[Result, ...]) -> tuple[SX, ...]:
    """The results entry by entry."""
    return cast("tuple[SX, ...]", unrolled(results))
