"""Products of derivatives with vectors of compositions without a root: link by link, each a C function.

A vector goes through links from first to last, with what they give. Weights go from last to first, at what all gave.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from casadi import SX, vec, vertcat

from codegen.costs import PULLED
from codegen.tracing.blocks import plain_of
from codegen.tracing.chained import needed
from codegen.tracing.linked import Values, each, kind, once_of
from codegen.tracing.trace import symbols_of

if TYPE_CHECKING:
    from codegen.recursions.composition import OfColumns, Parts
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
    slope = own.inwards.T @ own.program.reverse_at(own.outwards.T @ w, y) if own.program.is_solution else own.vjp(w)
    return once_of((slope,), [*symbols, vec(w), y], parts, least=PULLED)
