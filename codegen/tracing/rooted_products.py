"""Products of derivatives with vectors, of compositions whose results depend on the root w of an equation.

Where it lacks nothing, K dw + L dx = 0: vectors go through links from first to last, and their weights from last to
first, each by the links' Jacobians; so do dw = -K^-1 L dx, and u = K'^-1 of weights' gradient by w. Neither how all
places move along all arguments, nor the Jacobian of the results, is made.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from casadi import SX, densify, vertcat, vertsplit

from codegen.recursions.products import transposed
from codegen.recursions.systems import Solved
from codegen.tracing import link_products
from codegen.tracing.balanced_products import balanced, by_jacobian, pulled, through, times
from codegen.tracing.chained import needed
from codegen.tracing.chained_products import moved_by_root, root_of, rows_along
from codegen.tracing.linked import Values, each, kind, linearised, linked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.recursions.composition import OfColumns, Parts
    from codegen.recursions.products import Result
    from codegen.tracing.chained import Chain, Rooted
    from codegen.tracing.link_products import Way
    from codegen.tracing.linked import Kind, Linked


class Linear(NamedTuple):
    """What results are made of at a root: links, and how results move with the tangents of all places (`rows`)."""

    chain: Chain
    links: list[Linked]
    rows: SX
    parts: Parts

    def pushed(self, start: Sequence[SX]) -> SX:
        """How results move where arguments move so, by columns."""
        places = [*map(densify, start)]
        # first to last
        for own in self.links:
            taken = [x[:, : sum(place.size1() for place in places)] @ vertcat(*places) for x in own.taken]
            pairs = (zip(row, taken, strict=True) for row in own.slopes)
            places += [sum((times(A, x, self.parts) for A, x in row), SX(0)) for row in pairs]
        return self.rows @ vertcat(*places)

    def pulled(self, weights: SX) -> SX:
        """The gradient of results' sum with weights along the tangents of arguments."""
        slope, size = self.rows.T @ weights, sum(place.size(self.chain.nv) for place in self.chain.arguments)
        # last to first
        for own in reversed(self.links):
            ends = [0, *accumulate(row[0].shape[0] for row in own.slopes)]
            given = vertsplit(densify(slope[own.first : own.first + own.size, :]), ends)
            for x, column in zip(own.taken, zip(*own.slopes, strict=True), strict=True):
                slope += x.T @ self.gradient(zip(column, given, strict=True))
        return slope[:size, :]

    def gradient(self, pairs: Iterable[tuple[Result, SX]]) -> SX:
        """The sum of A' w for all pairs."""
        return sum((pulled(w, A, self.parts) for A, w in pairs if w.nnz()), SX(0))


class AtRoot(NamedTuple):
    """What a composition is made of at the root of its equation, how what this lacks moves with it, and its value."""

    results: Linear
    lack: Linear
    K: Result
    values: Values
    known: Mapping[Kind, OfColumns]

    def pushed(self, start: Sequence[SX]) -> SX:
        """How results move where arguments move so, by columns."""
        return self.results.pushed([*start, self.moved(start)])

    def moved(self, start: Sequence[SX]) -> SX:
        """How the root moves then."""
        lack = self.lack.pushed([*start, SX(self.K.shape[0], start[0].size2())])
        return self.lack.parts.numbers(Solved(self.K, -lack))

    def pulled(self, weights: SX) -> SX:
        """The gradient of results' sum with weights along the tangents of arguments."""
        return self.without(self.results.pulled(weights))[0]

    def without(self, found: SX) -> tuple[SX, SX]:
        """A gradient by arguments and by the root, as one by arguments; and multipliers of what the root lacks."""
        size = self.K.shape[0]
        u = self.lack.parts.numbers(Solved(transposed(self.K), densify(found[-size:, :])))
        return (found - self.lack.pulled(u))[:-size, :], u

    def bent(self, made: Rooted, weights: SX, end: SX, start: Sequence[SX]) -> tuple[SX, SX]:
        """The gradient of results' sum with weights, which move by `end` times tangents, and how it changes where
        arguments move by `start`: of that sum less u' times what the root lacks, whose gradient by the root vanishes.
        """
        size, u = self.K.shape[0], self.without(self.results.pulled(weights))[1]
        given, along = vertcat(end.T @ weights, -u), vertcat(*start, self.moved(start))
        chain = made.chain.of(needed(made.chain.links, made.chain.results))
        slope, curve = link_products.bent(chain, given, along, self.lack.parts, self.values, self.ways(chain))
        return slope[:-size], self.without(curve)[0]

    def ways(self, chain: Chain) -> list[Way]:
        """The ways through links, by their Jacobians where that is shorter."""
        parts, balances = self.lack.parts, each(chain.links, partial(by_jacobian, chain))
        if not any(balances.values()):
            return link_products.ways(chain.links, parts)
        balance = each([link for link in chain.links if balances[kind(link)]], partial(balanced, parts=parts))
        others = iter(link_products.ways([link for link in chain.links if not balances[kind(link)]], parts))
        links, _ = linked(chain, self.known, self.values)
        names = [kind(own.link) for own in links]
        pairs = zip(links, names, strict=True)
        return [through(own, balance[name], parts) if name in balance else next(others) for own, name in pairs]


def at_root(made: Rooted, end: SX, parts: Parts, *, bent: bool = False) -> AtRoot:
    """The same, of results that move by `end` times tangents, by loops over columns where they pay, and of `parts`.

    Jacobians have rows of multipliers where second derivatives are wanted (`bent`) and go by them.
    """
    bent = bent and any(by_jacobian(made.chain, link) for link in made.chain.links)
    made = made.of(needed(made.chain.links, made.chain.results, bent=bent))
    chain = made.chain
    known = each(chain.links, lambda link: linearised(link, parts))
    values = Values().and_of(made.root, root_of(made, known, parts))
    giving = replace(chain, links=needed(chain.links, made.results, bent=bent), results=made.results)
    found = list[Linear]()
    for own, outwards in ((giving, end), (made.lacking, SX.eye(made.root.size1()))):
        links, at = linked(own, known, values)
        (rows,) = at.at([outwards @ own.taken(own.results)])
        found.append(Linear(own, links, rows, parts))
    results, lack = found
    K = rows_along(lack.chain, lack.rows, moved_by_root(lack.chain, lack.links).places)
    return AtRoot(results, lack, K, values, known)
