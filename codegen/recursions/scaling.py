"""Results times a number: which factor of every product takes it, so that few matrices are needed in two sizes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from casadi import SX

from codegen.recursions.block_matrix import BlockMatrix
from codegen.recursions.panels import Panel, mapped
from codegen.recursions.products import MaskedProduct, Product, Result, made_in
from codegen.recursions.systems import Solved, Substituted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def negated(matrix: Result) -> Result:
    """The negative of a matrix, in a product by that of its left factors."""
    return scaled((matrix,), -1.0)[0]


def scaled(matrices: Sequence[Result], factor: SX | float) -> tuple[Result, ...]:
    """Matrices times a number, which goes to one factor of every product; products of one left factor keep one."""
    scaled_side, known = _scaled_sides(tuple(matrices)), dict[int, Result]()

    def now(matrix: Result) -> Result:
        if id(matrix) not in known:
            known[id(matrix)] = _scaled(matrix, factor, now, scaled_side.get(id(matrix), LEFT))
        return known[id(matrix)]

    return tuple(map(now, matrices))


LEFT, RIGHT = "left", "right"


def _scaled_sides(matrices: tuple[Result, ...]) -> dict[int, str]:
    """By products that are to be scaled: which of their factors is, so that few matrices are needed in two sizes.

    That is one that is to be scaled anyway, of two plain matrices one that fewer products take, or else the left one.
    """
    made, sides, wanted = made_in(matrices), dict[int, str](), {*map(id, matrices)}
    takers = Counter(id(factor) for own in made for factor in own.factors)
    for own in reversed(made):
        if id(own) not in wanted:
            continue
        if isinstance(own, Product):
            both = {LEFT: own.left, RIGHT: own.right}
            plain = all(isinstance(x, SX) for x in both.values())
            side = min(both, key=lambda x: (id(both[x]) not in wanted, plain and takers[id(both[x])]))
            sides[id(own)] = side
            wanted |= {id(both[side]), id(own.plus)}
        elif isinstance(own, BlockMatrix):
            wanted |= {*map(id, own.factors)}
    return sides


def _scaled(matrix: Result, factor: SX | float, now: Callable[[Result], Result], side: str) -> Result:
    """A matrix times a number, of what `now` makes of its factors, of a product of that on one side."""
    if isinstance(matrix, SX):
        return factor * matrix
    if isinstance(matrix, Panel) and not isinstance(factor, SX) and factor == -1.0:
        return mapped(negative, matrix)[0]
    if isinstance(matrix, BlockMatrix):
        return matrix.of([*map(now, matrix.factors)])
    if isinstance(matrix, Solved):
        return replace(matrix, right=now(matrix.right), plus=None if matrix.plus is None else now(matrix.plus))
    if isinstance(matrix, Substituted) and matrix.way == "scale" and not isinstance(factor, SX) and factor == -1.0:
        return replace(matrix, negative=not matrix.negative)
    if isinstance(matrix, Product):
        plus = None if matrix.plus is None else now(matrix.plus)
        left, right = (now(x) if side == own else x for x, own in ((matrix.left, LEFT), (matrix.right, RIGHT)))
        return replace(matrix, left=left, right=right, plus=plus)
    if isinstance(matrix, MaskedProduct) and not isinstance(factor, SX) and factor == -1.0:
        return replace(matrix, parts=tuple(replace(part, left=now(part.left)) for part in matrix.parts))
    return Product(matrix, factor * SX.eye(matrix.shape[1]))


def negative(x: SX) -> tuple[SX, ...]:
    """A column with the other sign."""
    return (-x,)
