"""Links of a chain at their arguments: what they give, their Jacobians by blocks, and second derivatives.

All are made of parts: what is long is a C function, of which there is one however many links are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from casadi import SX, densify, diagcat, horzcat, jacobian, sparsify, substitute, vec, vertcat

from codegen.costs import BENT, LINKED
from codegen.ir.products import TILE
from codegen.recursions.products import transposes
from codegen.recursions.scaling import scaled
from codegen.tracing.blocks import plain_of
from codegen.tracing.chained import is_raw
from codegen.tracing.curvature import RECURSIVE, is_solved, of_multiplied, of_solved
from codegen.tracing.equations import bent, by_motion, of_results
from codegen.tracing.spanning import is_geared, of_gears
from codegen.tracing.trace import symbols_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.recursions.composition import OfColumns, Parts
    from codegen.recursions.products import Result
    from codegen.tracing.chained import Chain, Link

Kind = tuple[str, ...]
"""What links have in common that are the same function."""

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Values:
    """Symbols of places, and what they are."""

    symbols: tuple[SX, ...] = ()
    values: tuple[SX, ...] = ()

    def __str__(self) -> str:
        return f"{len(self.symbols)} columns"

    def at(self, expressions: Sequence[SX]) -> list[SX]:
        """Expressions with values in the place of symbols."""
        return list(substitute([*expressions], [*self.symbols], [*map(densify, self.values)]))

    def and_of(self, symbol: SX, value: SX) -> Values:
        """These, and one more."""
        return Values((*self.symbols, symbol), (*self.values, value))


NONE = Values()
"""Of no symbols."""


class Linked(NamedTuple):
    """A link, the first of what it gives among places and among the tangents of all, what it takes and gives, how each
    of what it takes moves with places, and its Jacobian by blocks.
    """

    link: Link
    place: int
    first: int
    takes: list[SX]
    value: SX
    taken: list[SX]
    slopes: list[list[Result]]

    @property
    def size(self) -> int:
        """How many tangents it gives."""
        return sum(row[0].shape[0] for row in self.slopes)

    def jacobian_of(self, parts: Parts) -> SX:
        """Its Jacobian, entry by entry, or numbers that loops have made."""
        return vertcat(*[horzcat(*[plain_of(parts.numbers(x)) for x in row]) for row in self.slopes])


def linked(chain: Chain, made: Mapping[Kind, OfColumns], known: Values) -> tuple[list[Linked], Values]:
    """All links from first to last, `made` of columns, and what symbols are; some of these are `known`."""
    found = list[Linked]()
    place, first = len(chain.arguments), sum(place.size(chain.nv) for place in chain.arguments)
    for link in chain.links:
        takes, taken = known.at([*map(densify, link.takes)]), known.at(chain.each_taken(link.takes))
        value, *blocks = made[kind(link)](*takes)
        slopes = [blocks[k : k + len(takes)] for k in range(0, len(blocks), len(takes))]
        found.append(Linked(link, place, first, takes, value, taken, slopes))
        place, first = place + len(slopes), first + found[-1].size
        known = known.and_of(link.unknown, value)
    return found, known


def kind(link: Link) -> Kind:
    """That of a link."""
    return link.part.algorithm, *(place.port.name for place in link.gives)


def each(links: Sequence[Link], make: Callable[[Link], Made]) -> dict[Kind, Made]:
    """What is made of links, once of all of a kind."""
    return {name: make(link) for name, link in {kind(link): link for link in reversed(links)}.items()}


class Bending(NamedTuple):
    """A function that gives second derivatives of a link (`bending`).

    Where it is `by_rows`, it takes multipliers in the place of weights, which only accelerations have, and gives no
    gradient: both are products with blocks of the Jacobian. Where it is `of_jacobian`, it takes all elements of that,
    not what the link gives.
    """

    of: OfColumns
    by_rows: bool = False
    of_jacobian: bool = False


def bending(link: Link, parts: Parts, weighed: Sequence[bool]) -> Bending:
    """Of columns that a link takes, weights and what it gives, the gradient of their sum by what it takes, and second
    derivatives: of dynamics those by q and v, q and a, q and lam, and half of those by q and q and by v and v; of
    others all, in raw coordinates with what it gives as well. Some of what it gives may have no weights.
    """
    symbols, y = symbols_of(link.part.signature[0]), SX.sym("y", link.unknown.size1())
    own = link.differential(symbols)
    w, only_a, by_rows = SX.sym("w", own.outwards.size1()), not any(weighed[1:]), False
    long = link.part.model.nv >= LINKED
    geared = long and is_geared(link.part)
    if own.program.solutions and long and only_a and (geared or is_solved(link.part)):
        qq, qv, qa, vv, *of_lam = (of_gears if geared else of_multiplied)(link.part, symbols, w, y)
        qq, vv = scaled((qq, vv), 0.5)
        made = qq, qv, qa, vv, *transposes((*of_lam,))
        return Bending(once_of(made, [*symbols, w, y], parts, least=BENT), by_rows=True)
    found: tuple[Result, ...] | None = of_solved(link.part, own, symbols, w, y)
    if geared:
        found = own.vjp(w), *of_gears(link.part, symbols, -w, symbols[2])
    if found is None and own.program.inverts:
        names, (solution,) = [port.name for port in link.part.signature[0]], own.program.solutions
        by_rows = only_a and tuple(names) == RECURSIVE["aba"]
        u = w if by_rows else own.program.solved(solution.multipliers(jacobian(own.program.y, solution.unknown).T @ w))
        slope, second = bent(link.part, own.program, dict(zip(names, symbols, strict=True)), w, u, y)
        T, still = diagcat(own.inwards, SX.eye(y.size1())), SX(y.size1(), y.size1())
        second = T.T @ second @ T + diagcat(own.turning(slope, own.inwards), still)
        found = own.inwards.T @ slope, second
    elif found is None and own.program.solutions and not is_raw(link.part):
        J = SX.sym("J", w.size1(), own.inwards.size2())
        once = once_of(of_results(link.part, own, symbols, w, J), [*symbols, w, vec(J)], parts)
        return Bending(once, of_jacobian=True)
    made = found or of_results(link.part, own, symbols, w)
    if len(made) == 2 and (own.program.inverts or link.part.algorithm == "rnea"):
        made = by_motion(link.part, *map(plain_of, made)) or made
    if len(made) > 2:
        first, qq, qv, qa, vv, *of_lam = made
        qq, vv = scaled((qq, vv), 0.5)
        made = (*([] if by_rows else [first]), qq, qv, qa, vv, *transposes((*of_lam,)))
    return Bending(once_of(made, [*symbols, w, y], parts, whole=len(made) > 2), by_rows)


def linearised(link: Link, parts: Parts) -> OfColumns:
    """What a link gives, of columns that it takes, and then row by row the blocks of its Jacobian."""
    symbols = symbols_of(link.part.signature[0])
    apart = parts.apart(symbols)
    solves = link.solver(symbols)
    value = link.column(symbols) if solves.matrix is None else solves.program.solved(solves.program.y)
    rows = link.slopes(symbols, loops=True, parts=apart, solves=solves)
    made = value, *(x for row in rows for x in row)
    return once_of(made, symbols, parts, apart, whole=is_raw(link.part))


def once_of(
    results: tuple[Result, ...],
    symbols: Sequence[SX],
    parts: Parts,
    made_of: Parts | None = None,
    least: int | None = None,
    whole: bool = False,
) -> OfColumns:
    """Results, made of other parts if they are told, as a function of columns in the place of symbols.

    What is called makes one column of all entries of plain ones that are no constants, but for matrices that loops
    take, if they are left `whole`.
    """
    apart = made_of or parts.apart(symbols)
    plain = {k: sparsify(x) for k, x in enumerate(results) if isinstance(x, SX)}
    plain = {k: x for k, x in plain.items() if not (whole and x.size2() >= TILE and 2 * x.nnz() > x.numel())}
    moving = {k: [n for n in range(x.nnz()) if not x.nz[n].is_constant()] for k, x in plain.items()}
    ends = [0, *accumulate(map(len, moving.values()))]
    column = vertcat(SX(0, 1), *[vec(x.nz[moving[k]]) for k, x in plain.items()])
    made = (column, *(densify(x) if isinstance(x, SX) else x for k, x in enumerate(results) if k not in plain))
    once = parts.once(lambda within, *columns: within.at(apart, made, symbols, columns), least)

    def called(*columns: SX) -> tuple[Result, ...]:
        moved, *others = once(*columns)
        left, own = iter(others), iter(pairwise(ends))
        return tuple(filled(k, moved[slice(*next(own))]) if k in plain else next(left) for k in range(len(results)))

    def filled(k: int, entries: SX) -> SX:
        found = SX(plain[k])
        if moving[k]:
            found.nz[moving[k]] = entries
        return found

    return called
