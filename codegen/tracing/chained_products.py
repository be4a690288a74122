"""Jacobians and second derivatives of compositions with products of matrices, for who keeps these: the chain rule of
`codegen.tracing.chained`.

Second derivatives of dynamics are D' H D, with H those of weights' equations by what these take and what solves them,
and D how both move along arguments: neither the Jacobian of the dynamics nor their own second derivative is multiplied
out. All are the symmetric parts, of which the sum is the second derivative by raw coordinates, where that of a joint of
several degrees of freedom along tangents is not symmetric. Where a root w of an equation K dw + L dx = 0 is among what
moves, all are by arguments and by w first; then w moves by m = -K^-1 L.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from casadi import SX, densify, diagcat, vec, vertcat, vertsplit

from codegen.recursions.products import Product, Result, combined, is_small, summed, transposed
from codegen.recursions.scaling import negated
from codegen.recursions.systems import Solved
from codegen.tracing.blocks import plain_of, vanishes
from codegen.tracing.chained import Chain, Rooted, needed
from codegen.tracing.linked import Values, bending, each, kind, linearised, linked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.recursions.composition import OfColumns, Parts
    from codegen.tracing.linked import Bending, Kind, Linked

Pairs = list[tuple[Result, Result]]
Bent = Callable[[Sequence[Result], Sequence[Result]], Pairs]
"""Pairs of matrices, of which A' B and their transposes are second derivatives, by how all that a link has moves."""


class MovedProducts(NamedTuple):
    """Results, each a column, and how they move (m x N). The N directions are any that arguments may move along."""

    y: list[SX]
    J: Result


class CurvedProducts(NamedTuple):
    """The same, and of results' sum with weights the gradient along arguments (n) and how it changes (N x N)."""

    y: list[SX]
    J: Result
    slope: SX
    second: Result


class Moved(NamedTuple):
    """How all places move along directions, and what each link takes."""

    places: list[Result]
    changes: list[list[Result]]

    def of(self, own: Linked) -> list[Result]:
        """How what a link gives moves."""
        return self.places[own.place : own.place + len(own.slopes)]


class Root(NamedTuple):
    """How what a root lacks moves with it, how all places do, and how it moves along arguments."""

    K: Result
    by_root: Moved
    moves: Result


class Sweep(NamedTuple):
    """The links of a chain, what symbols are, and how places move along arguments, while a root stays."""

    links: list[Linked]
    values: Values
    moved: Moved
    root: Root | None = None

    def along(self, chain: Chain, rows: SX) -> Result:
        """How expressions move along arguments, that move by these rows along the tangents of all places."""
        found, root = rows_along(chain, rows, self.moved.places), self.root
        if root is None:
            return found
        return Product(rows_along(chain, rows, root.by_root.places), root.moves, found)


def moved(made: Chain | Rooted, start: SX, end: SX, parts: Parts) -> MovedProducts:
    """What is made of `parts`, and how it moves: arguments by `start` (n x N), results by `end` times tangents."""
    own = made.of(needed(made.chain.links, made.chain.results, bent=False))
    swept = _swept(own, start, parts)
    rows, *y = swept.values.at([end @ own.chain.taken(own.results), *own.results])
    return MovedProducts(y, swept.along(own.chain, rows))


def curved(made: Chain | Rooted, weights: SX, turning: SX, start: SX, end: SX, parts: Parts) -> CurvedProducts:
    """The same as of `Chain.curved`, where arguments move by `start` (n x N), and results by `end` (m x m') times that.

    By loops over columns where they pay, and of `parts`.
    """
    chain = made.chain
    bends = each(chain.links, lambda link: bending(link, parts, [*map(chain.takes, link.gives)]))
    swept = _swept(made, start, parts, stepwise=not any(own.of_jacobian for own in bends.values()))
    links, values, own, root = swept
    results, weights, turning, end, *y = values.at([chain.taken(made.results), weights, turning, end, *made.results])
    if root is not None:
        # multipliers of what the root lacks: the gradient along it vanishes
        pulled = plain_of(rows_along(chain, results, root.by_root.places)).T @ weights
        weights = vertcat(weights, -parts.numbers(Solved(transposed(root.K), pulled)))
    (taken,) = values.at([chain.taken(chain.results)])
    slope, spread, ways = taken.T @ weights, [(chain.results, weights)], [own, *([root.by_root] if root else [])]
    pairs = [Pairs() for _ in ways]
    # last to first: gradients by places, and how those of parts change
    for n, link in reversed([*enumerate(links)]):
        weighed, turned = slope[link.first : link.first + link.size], turning if link is links[-1] else None
        gradient, bent = _bent(link, weighed, bends[kind(link.link)], turned, parts)
        slope += vertcat(*link.taken).T @ gradient
        spread.append((link.link.takes, gradient))
        for found, way in zip(pairs, ways, strict=True):
            found += bent(way.changes[n], way.of(link))
    (between,) = values.at([chain.between(spread)])
    for found, way in zip(pairs, ways, strict=True):
        found += _of_vectors(chain, between, way.places)
    second = _symmetric(pairs[0], start.size2())
    if root is not None:
        second = _with_root(second, pairs[0], pairs[1], root.moves)
    return CurvedProducts(y, swept.along(chain, end @ results), slope[: start.size1()], second)


def _swept(made: Chain | Rooted, start: SX, parts: Parts, *, stepwise: bool = True) -> Sweep:
    """From the first link to the last: how places move along arguments, and a root, which links find `stepwise`.

    Or it is what the composition makes of it.
    """
    chain, known = made.chain, each(made.chain.links, lambda link: linearised(link, parts))
    starts = vertsplit(start, [0, *accumulate(place.size(chain.nv) for place in made.arguments)])
    if isinstance(made, Chain):
        links, values = linked(chain, known, Values())
        return Sweep(links, values, _moved(chain, links, starts))
    root = root_of(made, known, parts) if stepwise else made.reached(parts, True)
    links, values = linked(chain, known, Values().and_of(made.root, root))
    by_root, along = moved_by_root(chain, links), _moved(chain, links, [*starts, SX(root.size1(), start.size2())])
    (lacks,) = values.at([chain.taken(chain.results[-1:])])
    K, lack = (rows_along(chain, lacks, own.places) for own in (by_root, along))
    return Sweep(links, values, along, Root(K, by_root, Solved(K, negated(lack))))


def root_of(made: Rooted, known: Mapping[Kind, OfColumns], parts: Parts) -> SX:
    """The root, by Newton's method, of the same links."""
    chain, root = made.lacking, densify(made.guess)
    for _ in range(made.steps):
        links, values = linked(chain, known, Values().and_of(made.root, root))
        lacks, lack = values.at([chain.taken(chain.results), *chain.results])
        K = rows_along(chain, lacks, moved_by_root(chain, links).places)
        root = parts.numbers(Solved(K, -lack, root))
    return root


def moved_by_root(chain: Chain, links: Sequence[Linked]) -> Moved:
    """How places move with the root alone, the last argument."""
    *others, root = (place.size(chain.nv) for place in chain.arguments)
    return _moved(chain, links, [*(SX(size, root) for size in others), SX.eye(root)])


def _moved(chain: Chain, links: Sequence[Linked], start: Sequence[Result]) -> Moved:
    """How places move where arguments do so."""
    places, changes = [*start], list[list[Result]]()
    for own in links:
        changes.append([rows_along(chain, x, places) for x in own.taken])
        places += [_sum([*zip(row, changes[-1], strict=True)]) for row in own.slopes]
    return Moved(places, changes)


def _bent(own: Linked, weights: SX, bend: Bending, turning: SX | None, parts: Parts) -> tuple[SX, Bent]:
    """Of a sum with weights of what a link gives the gradient by what it takes, and what makes its second derivatives.

    Weights change by `turning` along what is given.
    """
    if bend.of_jacobian:
        J = densify(own.jacobian_of(parts))
        gradient, second = map(plain_of, bend.of(*own.takes, weights, vec(J)))
        second = second if turning is None else second + J.T @ turning @ J
        return gradient, lambda change, _: _of_plain(second, change)
    if bend.by_rows:
        of_a, *of_lam = own.slopes
        matrices = *of_a, *(transposed(by_tau) for *_, by_tau in of_lam)
        found = [parts.numbers(Product(weights[: x.shape[0]].T, x)).T for x in matrices]
        given, u = found[: len(of_a)], vertcat(*found[len(of_a) - 1 :])
        return vertcat(*given), partial(_of_dynamics, bend.of(*own.takes, u, own.value), False)
    first, *others = bend.of(*own.takes, weights, own.value)
    gradient = plain_of(first)
    if len(others) > 1:
        return gradient, partial(_of_dynamics, others, own.link.part.algorithm == "rnea")
    second, n = plain_of(others[0]), sum(x.size1() for x in own.taken)
    if second.size1() > n:
        second = second if turning is None else second + diagcat(SX(n, n), turning)
        return gradient, lambda change, moves: _of_plain(second, [*change, *moves])
    if turning is not None:
        J = own.jacobian_of(parts)
        second += J.T @ turning @ J
    return gradient, lambda change, _: _of_plain(second, change)


def _of_dynamics(second: Sequence[Result], inverse: bool, change: Sequence[Result], moves: Sequence[Result]) -> Pairs:
    """Those of second derivatives of equations of motion: by qq, qv, qa, vv and, if there are such, lam and q.

    Accelerations are what `inverse` dynamics take, and forward dynamics give.
    """
    half_qq, qv, qa, half_vv, *by_lam = second
    by_q, by_v, *taken = change
    by_a = taken if inverse else moves
    bent = zip((qv, qa, *by_lam), (by_v, *by_a), strict=True)
    return [(by_q, _sum([(half_qq, by_q), *bent])), (by_v, _sum([(half_vv, by_v)]))]


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


def _symmetric(pairs: Pairs, n: int) -> Result:
    """The sum of all A' B and their transposes (n x n), of which the upper triangle is computed."""
    both = [(A, B) for pair in pairs for A, B in (pair, pair[::-1])]
    return _added(both, SX(n, n), symmetric=True)


def _added(pairs: Pairs, found: Result, *, symmetric: bool = False) -> Result:
    """A matrix and all A' B."""
    plain = [A.T @ B for A, B in pairs if isinstance(A, SX) and isinstance(B, SX) and is_small(A.T, B)]
    found = summed(found, sum(plain, SX(*found.shape)))
    for A, B in pairs:
        small = isinstance(A, SX) and isinstance(B, SX) and is_small(A.T, B)
        if not (vanishes(A) or vanishes(B) or small):
            found = Product(A, B, found, transposed=True, symmetric=symmetric)
    return found


def _with_root(second: Result, by_start: Pairs, by_root: Pairs, moves: Result) -> Result:
    """Second derivatives along arguments where a root moves with them: S + m' C + C' m, C = S_wx + S_ww m / 2.

    S_ww is the sum of A' B and B' A: half of it is either, as far as m' S_ww m goes.
    """
    n, N = moves.shape
    crossed = [
        pair for (A, B), (mine, other) in zip(by_root, by_start, strict=True) for pair in ((A, other), (B, mine))
    ]
    C = _sum([(_added(by_root, SX(n, n)), moves), (SX.eye(n), _added(crossed, SX(n, N)))])
    return _added([(moves, C), (C, moves)], second, symmetric=True)


def rows_along(chain: Chain, rows: SX, places: Sequence[Result]) -> Result:
    """How expressions move along arguments, that move by these rows along the tangents of all places."""
    return _sum([(rows[:, [*at]], x) for at, x in zip(chain.spans, places, strict=False)])


def _sum(pairs: Sequence[tuple[Result, Result]]) -> Result:
    """The sum of A X for all pairs."""
    (A, X), *_ = pairs
    some = [own for own in pairs if not any(map(vanishes, own))]
    if len(some) == 1 and isinstance(some[0][0], SX) and some[0][0].is_eye():
        return some[0][1]
    return combined(some) if some else SX(A.shape[0], X.shape[1])
