"""Second derivatives by pairs of arguments and solutions, and along arguments alone: sums and congruences of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.recursions.products import (
    Product,
    Result,
    pulled,
    some_rows,
    substituted,
    summed,
    times_within,
    transposes,
)
from codegen.tracing.blocks import Blocks, plain_of, vanishes, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from casadi import SX

    from codegen.tracing.curvature import Pairs

Results = dict[tuple[str, str], Result]
"""Derivatives by names of output and input."""


def moved_to(second: Pairs, old: SX, new: SX) -> Pairs:
    """Second derivatives with expressions in the place of symbols."""
    return dict(zip(second, substituted((*second.values(),), [old], [new]), strict=True))


def with_plain(second: Pairs, more: Pairs) -> Pairs:
    """Second derivatives and more of them, which are none of products."""
    found = dict(second)
    for (one, other), x in more.items():
        turned = one != other and (other, one) in found
        pair, added = ((other, one), plain_of(x).T) if turned else ((one, other), x)
        found[pair] = summed(found[pair], added) if pair in found else added
    return found


def both_ways(second: Pairs) -> Pairs:
    """Second derivatives by pairs of arguments in either order."""
    others = {pair: x for pair, x in second.items() if pair[0] != pair[1]}
    turned = zip(others, transposes((*others.values(),)), strict=True)
    return second | {(other, one): x for (one, other), x in turned}


def congruence(second: Pairs, J: Blocks, inputs: Mapping[str, SX]) -> Blocks:
    """H + B' J + J' B + J' C J by two arguments: second derivatives H by arguments, B by solutions and arguments, and C
    by solutions, with few rows, as equations are linear in what they are solved for.

    The second of two arguments is not the shorter one: loops take many columns at a time.
    """
    found, names = Blocks(), sorted(inputs, key=lambda name: int(inputs[name].numel()))
    moved, solved = {pair: x.matrix for pair, x in J.items() if x.entries.nnz()}, [*dict.fromkeys(y for y, _ in J)]
    products, rows = dict[tuple[int, int, bool], Result](), Results()
    bent = {y: sorted({*plain_of(second[y, y]).sparsity().row()}) for y in solved}
    for (y, x), change in moved.items():
        rows[y, x] = some_rows(change, bent[y])
    for i, first in enumerate(names):
        for other in names[i:]:
            factors = list[tuple[Result, Result]]()
            for y in solved:
                if (y, first) in moved and not vanishes(second[y, other]):
                    factors.append(pulled(moved[y, first], second[y, other], products))
                if (y, other) in moved and not vanishes(second[y, first]):
                    R, Y = pulled(moved[y, other], second[y, first], products)
                    factors.append((Y, R))
                if bent[y] and (y, first) in moved and (y, other) in moved:
                    C = plain_of(second[y, y])[bent[y], bent[y]]
                    factors.append((rows[y, first], times_within(C, rows[y, other])))
            made: Result = second[first, other]
            # where the sum is symmetric, nothing takes more than the upper triangle of what is added
            for left, right in factors:
                made = Product(left, right, made, transposed=True, symmetric=first == other)
            found[first, other] = whole(made)
            found[other, first] = found[first, other].T
    return found
