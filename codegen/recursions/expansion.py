"""Products of matrices multiplied out: their entries as expressions, and how many multiplications these take."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar, cast

from casadi import DM, SX, Sparsity, project, sparsify

from codegen.costs import SOLVED
from codegen.recursions.block_matrix import BlockMatrix
from codegen.recursions.calls import Output
from codegen.recursions.panels import Panel
from codegen.recursions.products import MaskedProduct, Product, made_in
from codegen.recursions.systems import Factored, Solved, Substituted
from codegen.recursions.systems import multiplications as to_solve
from codegen.spatial import mirrored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.recursions.products import Result

Matrix = TypeVar("Matrix", SX, DM)


def multiplications(results: tuple[Result, ...]) -> int:
    """Products of two numbers that the products of matrices among results and within these take, without zeros."""
    known: dict[int, Sparsity] = {}
    total = 0.0
    for own in made_in(results):
        if isinstance(own, Panel | Factored | Substituted | Output):
            known[id(own)] = Sparsity.dense(*own.shape)
            continue
        if isinstance(own, Solved):
            total += to_solve(_pattern(own.matrix, known).sparsity(), own.shape[1])
            known[id(own)] = Sparsity.dense(*own.shape)
            continue
        if isinstance(own, BlockMatrix):
            known[id(own)] = own.of([SX(_pattern(x, known)) for x in own.factors]).entries.sparsity()
            continue
        terms = _terms(own, known)
        total += sum(terms.nonzeros()) / (2 if isinstance(own, Product) and own.symmetric else 1)
        known[id(own)] = terms.sparsity()
        if own.symmetric:
            known[id(own)] = known[id(own)] + known[id(own)].T
        if isinstance(own, Product) and own.plus is not None:
            known[id(own)] = known[id(own)] + _pattern(own.plus, known).sparsity()
    return int(total)


def _terms(own: Product | MaskedProduct, known: dict[int, Sparsity]) -> DM:
    """How many products of two numbers each entry of a result takes."""
    if isinstance(own, MaskedProduct):
        terms = [_terms(Product(part.left, part.right, transposed=part.transposed), known) for part in own.parts]
        return sum((masked(count, part.mask) for count, part in zip(terms, own.parts, strict=True)), DM(*own.shape))
    left, right = (_pattern(factor, known) for factor in (own.left, own.right))
    return (left.T if own.transposed else left) @ right


def masked(matrix: Matrix, mask: Sparsity) -> Matrix:
    """A matrix without entries that a mask has not."""
    return project(matrix, matrix.sparsity() * mask)


def _pattern(matrix: Result, known: dict[int, Sparsity]) -> DM:
    """Ones where a matrix may differ from zero."""
    return DM(sparsify(matrix).sparsity() if isinstance(matrix, SX) else known[id(matrix)], 1)


def unrolled(results: tuple[Result, ...], least: float = math.inf) -> tuple[Result, ...]:
    """The results, with products of fewer than `least` columns entry by entry, if they take no wider ones."""
    known: dict[int, Result] = {}
    maps: dict[int, tuple[SX, ...]] = {}

    def now(matrix: Result) -> Result:
        return matrix if isinstance(matrix, SX) else known[id(matrix)]

    for own in made_in(results):
        factors = tuple(map(now, own.factors))
        plain = [factor for factor in factors if isinstance(factor, SX)]
        narrow = own.shape[1] < least and len(plain) == len(factors)
        if isinstance(own, Panel):
            if narrow and id(own.map) not in maps:
                maps[id(own.map)] = own.map.entries(plain)
            known[id(own)] = maps[id(own.map)][own.number] if narrow else own
        elif isinstance(own, Solved):
            small = own.shape[0] < max(least, SOLVED) and len(plain) == len(factors)
            known[id(own)] = own.entries(plain) if small else own.of(factors)
        elif isinstance(own, Output):
            known[id(own)] = own
        elif isinstance(own, Factored | Substituted):
            known[id(own)] = own.of(factors)
        elif isinstance(own, BlockMatrix):
            known[id(own)] = own.of(factors).entries if len(plain) == len(factors) else own.of(factors)
        else:
            known[id(own)] = _multiplied(own, plain) if narrow else own.of(factors)
    return tuple(map(now, results))


def _multiplied(own: Product | MaskedProduct, factors: Sequence[SX]) -> SX:
    """A product of these matrices, entry by entry."""
    if isinstance(own, MaskedProduct):
        parts = zip(own.parts, factors[::2], factors[1::2], strict=True)
        made = sum((masked(_times(x, y, part.transposed), part.mask) for part, x, y in parts), SX(*own.shape))
    else:
        left, right, *plus = factors
        made = sum(plus, _times(left, right, own.transposed))
    return mirrored(made) if own.symmetric else made


def _times(left: SX, right: SX, transposed: bool) -> SX:
    return sparsify(left.T if transposed else left) @ sparsify(right)


def entries(results: tuple[Result, ...]) -> tuple[SX, ...]:
    """The results entry by entry."""
    return cast("tuple[SX, ...]", unrolled(results))
