"""Products of the derivatives of compositions with vectors (`jvp`, `vjp`, `hvp`), of parts that C calls, link by link.

They are along tangents, as `codegen.tracing.directional` has them. Where loops allow fewer tangents than there are
coordinates, links move by these: directions become rates of coordinates, and gradients those along tangents. The
weights of a configuration that a step gives are raw ones then, and turn with it.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import SX, diagcat, vertcat, vertsplit

from codegen.costs import CALLED_IN_HESSIANS, CALLED_IN_JACOBIANS, LINKED
from codegen.recursions.composition import Composition
from codegen.tracing import link_products
from codegen.tracing.chained import Rooted, chain, is_raw
from codegen.tracing.differential import differential, moves, split
from codegen.tracing.products import with_products
from codegen.tracing.rooted_products import at_root
from codegen.tracing.sharing import Sharing
from codegen.tracing.stages import Stages
from codegen.tracing.tangents import tangents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Port
    from codegen.tracing.chained import Chain
    from codegen.tracing.differential import Differential
    from codegen.tracing.products import Kept
    from codegen.tracing.task import Task


def by_parts(task: Task) -> bool:
    """Whether products are made so: of compositions of robots with many joints, or with implicit loops."""
    composed = isinstance(task.entry.run, Composition) and task.tier != "published"
    return composed and (task.model.nv >= LINKED or is_raw(task))


def kept_of(task: Task, symbols: list[SX], given: Sequence[Port], made: Sequence[Port]) -> Kept:
    """What a graph has to make of symbols of a task's arguments, then of weights and directions."""
    n, m = map(len, task.signature)
    arguments, others = symbols[:n], symbols[n:]
    own, steps = differential(task, arguments), chain(task, arguments)
    parts = Sharing(symbols, CALLED_IN_HESSIANS if _solves(task, steps) else CALLED_IN_JACOBIANS)
    if task.form.derivative == "jvp":
        found = _pushed(task, own, steps, vertcat(*others), parts)
    elif task.form.derivative == "vjp":
        found = _pulled(task, own, steps, vertcat(*others), parts)
    else:
        found = _bent(task, own, steps, vertcat(*others[:m]), vertcat(*others[m:]), parts)
    stages = Stages(tuple(symbols), tuple(given), parts.opened)
    return with_products(tuple(split(found, made)), made, stages=stages)


def _solves(task: Task, made: Chain | Rooted) -> bool:
    """Whether it is for second derivatives of steps that solve equations, which are too long for limbs in step."""
    return task.form.derivative == "hvp" and (isinstance(made, Rooted) or is_raw(task))


def _pushed(task: Task, own: Differential, made: Chain | Rooted, dx: SX, parts: Sharing) -> SX:
    """How results change along directions."""
    start, end = own.inwards @ dx if is_raw(task) else dx, _end(task, made)
    if not isinstance(made, Rooted):
        return link_products.pushed(made, start, end, parts)
    return at_root(made, end, parts).pushed(_by_places(made, start))


def _pulled(task: Task, own: Differential, made: Chain | Rooted, w: SX, parts: Sharing) -> SX:
    """The gradient of results' sum with weights."""
    end = _end(task, made)
    slope = (
        at_root(made, end, parts).pulled(w) if isinstance(made, Rooted) else link_products.pulled(made, w, end, parts)
    )
    return own.inwards.T @ slope if is_raw(task) else slope


def _bent(task: Task, own: Differential, made: Chain | Rooted, w: SX, dx: SX, parts: Sharing) -> SX:
    """How this gradient changes along directions."""
    end, raw = _end(task, made), own.inwards @ dx if is_raw(task) else dx
    if isinstance(made, Rooted):
        slope, change = at_root(made, end, parts, bent=True).bent(made, w, end, _by_places(made, raw))
    else:
        slope, change = link_products.bent(made, end.T @ w, raw, parts)
    return own.inwards.T @ change + own.turning(slope, raw) if is_raw(task) else change


def _by_places(made: Rooted, change: SX) -> list[SX]:
    """The parts of a change that belong to the arguments."""
    return vertsplit(change, [0, *accumulate(place.size(made.chain.nv) for place in made.arguments)])


def _end(task: Task, made: Chain | Rooted) -> SX:
    """What makes tangents of how results move."""
    sizes = [port.size for port in task.signature[1]]
    if not is_raw(task):
        return SX.eye(sum(task.model.nv if moves(port.name) else port.size for port in task.signature[1]))
    first, *others = sizes
    E = tangents(task.model, {}, made.results[0])[1] if moves(task.signature[1][0].name) else SX.eye(first)
    return diagcat(E, SX.eye(sum(others)))
