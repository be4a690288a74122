"""Second derivatives of compositions with products of matrices, for who keeps these: the chain rule of
`codegen.tracing.chained`.

Of dynamics they are D' H D, with H those of weights' equations by what these take and what solves them, and D how both
move along arguments: neither the Jacobian of the dynamics nor their own second derivative is multiplied out. All are
the symmetric parts, of which the sum is the second derivative by raw coordinates, where that of a joint of several
degrees of freedom along tangents is not symmetric.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from casadi import SX, densify, horzcat, substitute, vertcat, vertsplit

from codegen.recursions.expansion import entries
from codegen.recursions.products import Product, Result, combined, substituted, transposes
from codegen.recursions.scaling import scaled
from codegen.tracing.blocks import plain_of, vanishes
from codegen.tracing.chained import Chain, Link
from codegen.tracing.curvature import of_solved
from codegen.tracing.trace import symbols_of

if TYPE_CHECKING:
    from collections.abc import Sequence

Pairs = list[tuple[Result, Result]]


class CurvedProducts(NamedTuple):
    """How results move (m x N), and of their sum with weights the gradient along arguments (n) and its changes (N x N).

    The N directions are any that arguments may move along.
    """

    J: Result
    slope: SX
    second: Result


class Passed(NamedTuple):
    """A link, the first of what it gives among the tangents of all places, and how what it takes moves with these; then
    how that moves along arguments, its Jacobian, and how what it gives moves.
    """

    link: Link
    first: int
    taken: SX
    change: list[Result]
    slopes: list[list[Result]]
    moved: list[Result]


def curved(chain: Chain, weights: SX, turning: SX, start: SX, end: SX) -> CurvedProducts:
    """The same as of `Chain.curved`, where arguments move by `start` (n x N), and results by `end` (m x m') times that.

    By loops over columns where they pay.
    """
    ends, passed = [0, *accumulate(place.size(chain.nv) for place in chain.arguments)], list[Passed]()
    places: list[Result] = [*vertsplit(start, ends)]
    # first to last: how places move along arguments
    for link in chain.links:
        taken = chain.each_taken(link.takes)
        change, slopes = [_along(chain, x, places) for x in taken], link.slopes(loops=True)
        moved = [_sum([*zip(row, change, strict=True)]) for row in slopes]
        first = sum(x.shape[0] for x in places)
        passed.append(Passed(link, first, vertcat(*taken), change, slopes, moved))
        places += moved
    results = chain.taken(chain.results)
    slope, spread, pairs = results.T @ weights, [(chain.results, weights)], Pairs()
    # last to first: gradients by places, and how those of parts change
    for own in reversed(passed):
        gradient, more = _bent(own, slope, turning if own is passed[-1] else None)
        slope += own.taken.T @ gradient
        spread.append((own.link.takes, gradient))
        pairs += more
    pairs += _of_vectors(chain, chain.between(spread), places)
    J, second, slope = _along(chain, end @ results, places), _added(pairs, start.size2()), slope[: ends[-1]]
    for link in reversed(chain.links):
        J, second = substituted((J, second), [link.unknown], [link.value])
        slope = substitute(slope, link.unknown, densify(link.value))
    return CurvedProducts(J, slope, second)


def _bent(own: Passed, slope: SX, turning: SX | None) -> tuple[SX, Pairs]:
    """Of a sum with weights of what a link gives the gradient by what it takes, and of how that changes along arguments
    pairs of matrices: A' B and its transpose.

    Weights are the `slope` by all places. They change by `turning` along what is given.
    """
    link, symbols = own.link, symbols_of(own.link.part.signature[0])
    weights = slope[own.first : own.first + sum(x.shape[0] for x in own.moved)]
    w, given = SX.sym("w", weights.size1()), [*map(densify, link.takes), weights]
    found = None if turning is not None else of_solved(link.part, link.differential(symbols), symbols, w, link.unknown)
    if found is None:
        blocks = iter(entries(tuple(x for row in own.slopes for x in row)))
        J = vertcat(*[horzcat(*[next(blocks) for _ in row]) for row in own.slopes])
        gradient, second = link.curvature(weights, J)
        return gradient, _of_plain(second if turning is None else second + J.T @ turning @ J, own.change)
    first, qq, qv, qa, vv, *of_lam = substituted(found, [*symbols, w], given)
    by_q, by_v, *_ = own.change
    bent = zip((qv, qa, *transposes((*of_lam,))), (by_v, *own.moved), strict=True)
    half_qq, half_vv = scaled((qq, vv), 0.5)
    return plain_of(first), [(by_q, _sum([(half_qq, by_q), *bent])), (by_v, _sum([(half_vv, by_v)]))]


def _of_plain(second: SX, change: Sequence[Result]) -> Pairs:
    """Those of a second derivative by what moves by these changes."""
    ends = [0, *accumulate(x.shape[0] for x in change)]
    half = (second + second.T) / 2
    spans = [slice(*own) for own in pairwise(ends)]
    found = Pairs()
    for k, (at, left) in enumerate(zip(spans, change, strict=True)):
        rows = [half[at, other] / (1 if n else 2) for n, other in enumerate(spans[k:])]
        found.append((left, _sum([*zip(rows, change[k:], strict=True)])))
    return found


def _of_vectors(chain: Chain, second: SX, places: Sequence[Result]) -> Pairs:
    """Those of a second derivative by what is no configuration."""
    return _of_plain(second, [x for place, x in zip(chain.places, places, strict=True) if not place.moves])


def _added(pairs: Pairs, n: int) -> Result:
    """The sum of all A' B and their transposes (n x n), of which the upper triangle is computed."""
    plain = [(A, B) for A, B in pairs if isinstance(A, SX) and isinstance(B, SX)]
    found: Result = sum((A.T @ B + B.T @ A for A, B in plain), SX(n, n))
    for A, B in pairs:
        if not (vanishes(A) or vanishes(B) or (isinstance(A, SX) and isinstance(B, SX))):
            for left, right in ((A, B), (B, A)):
                found = Product(left, right, found, transposed=True, symmetric=True)
    return found


def _along(chain: Chain, rows: SX, places: Sequence[Result]) -> Result:
    """How expressions move along arguments, that move by these rows along the tangents of all places."""
    return _sum([(rows[:, [*at]], x) for at, x in zip(chain.spans, places, strict=False)])


def _sum(pairs: Sequence[tuple[Result, Result]]) -> Result:
    """The sum of A X for all pairs."""
    (A, X), *_ = pairs
    some = [own for own in pairs if not any(map(vanishes, own))]
    if len(some) == 1 and isinstance(some[0][0], SX) and some[0][0].is_eye():
        return some[0][1]
    return combined(some) if some else SX(A.shape[0], X.shape[1])
