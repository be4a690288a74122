"""Products of derivatives with vectors of compositions without a root: link by link, each a C function.

A vector goes through links from first to last, with what they give. Weights go from last to first, at what all gave.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from casadi import SX, jacobian, vec, vertcat

from codegen.costs import PULLED
from codegen.tracing.blocks import plain_of
from codegen.tracing.chained import needed
from codegen.tracing.linked import NONE, Values, each, kind, once_of
from codegen.tracing.trace import symbols_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.recursions.composition import OfColumns, Parts
    from codegen.recursions.products import Result
    from codegen.tracing.chained import Chain, Link


def pushed(chain: Chain, start: SX, end: SX, parts: Parts) -> SX:
    """How results move, by `end` times tangents, where arguments move by `start`, both along the tangents of joints."""
    chain = chain.of(needed(chain.links, chain.results, bent=False))
    bodies, values, change = each(chain.links, partial(moving, ways=start.size2(), parts=parts)), Values(), start
    # first to last: what links give, and how it moves
    for link in chain.links:
        takes, taken = values.at([*link.takes]), values.at(chain.each_taken(link.takes))
        along = vertcat(*taken)[:, : change.size1()] @ change
        y, dy = map(plain_of, bodies[kind(link)](*takes, vec(along)))
        values, change = values.and_of(link.unknown, y), vertcat(change, dy)
    (rows,) = values.at([end @ chain.taken(chain.results)])
    return rows @ change


def pulled(chain: Chain, weights: SX, end: SX, parts: Parts) -> SX:
    """The gradient by arguments of the sum with weights of results, which move by `end` times tangents."""
    chain = chain.of(needed(chain.links, chain.results))
    bodies = each(chain.links, partial(giving, parts=parts))
    backwards = each(chain.links, partial(pulling, ways=weights.size2(), parts=parts))
    values, known = Values(), list[tuple[list[SX], SX, SX]]()
    # first to last: what links give
    for link in chain.links:
        takes, taken = values.at([*link.takes]), vertcat(*values.at(chain.each_taken(link.takes)))
        y = plain_of(bodies[kind(link)](*takes)[0])
        known.append((takes, taken, y))
        values = values.and_of(link.unknown, y)
    (rows,) = values.at([end @ chain.taken(chain.results)])
    slope = rows.T @ weights
    # last to first: gradients by what links take
    for link, (takes, taken, y) in reversed([*zip(chain.links, known, strict=True)]):
        size = sum(place.size(chain.nv) for place in link.gives)
        top = slope.size1() - size
        gradient = plain_of(backwards[kind(link)](*takes, vec(slope[top:, :]), y)[0])
        slope = slope[:top, :] + taken[:, :top].T @ gradient
    return slope


class Way(NamedTuple):
    """How a vector goes through a link, of columns that the link takes, and how weights come back.

    `moving` gives what the link gives, and how that moves where what it takes moves so. `curving` gives, of both
    motions, weights, and how these change, the gradient of the sum with these, and how it changes.
    """

    moving: OfColumns
    curving: OfColumns


def ways(links: Sequence[Link], parts: Parts) -> list[Way]:
    """Those of links, of C functions."""
    forwards = each(links, partial(moving, ways=1, parts=parts))
    backwards = each(links, partial(curving, parts=parts))
    return [Way(forwards[kind(link)], backwards[kind(link)]) for link in links]


def bent(
    chain: Chain, weights: SX, start: SX, parts: Parts, values: Values = NONE, through: Sequence[Way] = ()
) -> tuple[SX, SX]:
    """The gradient by arguments of the sum with weights of results, and how it changes where arguments move by `start`.

    Weights may depend on what links give, if that is no configuration with tangents. Symbols of some arguments have
    `values`. All links that are needed may be told ways `through` them.
    """
    chain = chain.of(needed(chain.links, chain.results))
    through = through or ways(chain.links, parts)
    known, change, vectors = list[tuple[list[SX], SX, SX, SX]](), start, chain.of_vectors
    # first to last: what links give, and how it moves
    for link, way in zip(chain.links, through, strict=True):
        takes, taken = values.at([*link.takes]), vertcat(*values.at(chain.each_taken(link.takes)))
        along = taken[:, : change.size1()] @ change
        y, dy = map(plain_of, way.moving(*takes, along))
        known.append((takes, taken, along, dy))
        values, change = values.and_of(link.unknown, y), vertcat(change, dy)
    rows, turning, weights = values.at([chain.taken(chain.results), jacobian(weights, chain.vectors), weights])

    def between(expressions: Sequence[SX], gradient: SX) -> SX:
        """How the gradient of weighted expressions changes."""
        (second,) = values.at([chain.between([(expressions, gradient)])])
        return vectors.T @ (second @ (vectors @ change))

    slope = rows.T @ weights
    curve = rows.T @ (turning @ (vectors @ change)) + between(chain.results, weights)
    # last to first: gradients by what links take, and how they change
    for link, way, (takes, taken, along, dy) in reversed([*zip(chain.links, through, known, strict=True)]):
        top = slope.size1() - sum(place.size(chain.nv) for place in link.gives)
        gradient, bend = map(plain_of, way.curving(*takes, along, dy, slope[top:], curve[top:]))
        slope = slope[:top] + taken[:, :top].T @ gradient
        curve = curve[:top] + taken[:, :top].T @ bend + between(link.takes, gradient)[:top]
    return slope, curve


def moving(link: Link, ways: int, parts: Parts) -> OfColumns:
    """What a link gives, and how it moves, of columns that it takes and of how these move in so many ways."""
    symbols = symbols_of(link.part.signature[0])
    own = link.differential(symbols)
    dx = SX.sym("dx", own.inwards.size2(), ways)
    return once_of((link.column(symbols), own.jvp(dx)), [*symbols, vec(dx)], parts)


def giving(link: Link, parts: Parts) -> OfColumns:
    """What a link gives, of columns that it takes."""
    symbols = symbols_of(link.part.signature[0])
    return once_of((link.column(symbols),), symbols, parts)


def pulling(link: Link, ways: int, parts: Parts) -> OfColumns:
    """Of columns that a link takes, weights in so many ways and what it gives, the gradients of the sums with these."""
    symbols = symbols_of(link.part.signature[0])
    own = link.differential(symbols)
    w, y = SX.sym("w", own.outwards.size1(), ways), SX.sym("y", link.unknown.size1())
    return once_of((own.where(y).vjp(w),), [*symbols, vec(w), y], parts, least=PULLED)


def curving(link: Link, parts: Parts) -> OfColumns:
    """Of columns that a link takes, how they change, weights, and how these change: the gradient of the sum with these,
    and its change. What the link gives, and how that changes, is made once more: with it known, more is left to do.
    """
    symbols = symbols_of(link.part.signature[0])
    own = link.differential(symbols)
    dx = SX.sym("dx", own.inwards.size2())
    w, dw = (SX.sym(name, own.outwards.size1()) for name in ("w", "dw"))
    once = once_of((own.vjp(w), own.hvp(w, dx, dw)), [*symbols, dx, w, dw], parts)

    def called(*columns: SX) -> tuple[Result, ...]:
        *given, _, w, dw = columns
        return once(*given, w, dw)

    return called
