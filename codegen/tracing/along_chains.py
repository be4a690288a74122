"""Derivatives of steps along the chains of what they call, by arguments as CasADi has them, quaternions of any norm.

Chains move along tangents of configurations. These turn with positions at both ends of a step.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import SX, densify, diagcat, jacobian, reshape, substitute, vec, vertcat, vertsplit

from codegen.recursions.products import summed
from codegen.spatial import mirrored
from codegen.tracing import chained_products, link_products
from codegen.tracing.arguments import columns, is_configuration, tangent_maps
from codegen.tracing.blocks import plain_of
from codegen.tracing.chained import Rooted, chain, is_raw
from codegen.tracing.rooted_products import at_root
from codegen.tracing.tangents import tangents
from codegen.tracing.trace import symbols_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.recursions.composition import Parts
    from codegen.recursions.products import Result
    from codegen.tracing.chained import Chain
    from codegen.tracing.expressed import Expressions
    from codegen.tracing.task import Task


def linearised(task: Task, own: Expressions, parts: Parts) -> tuple[Mapping[str, SX], Result]:
    """A step, by name, and its Jacobian, by loops over columns where they pay."""
    symbols = symbols_of(task.signature[0])
    apart, made = parts.apart(symbols), chain(task, symbols)
    T, E = _ends(task, own, made)
    y, J = chained_products.moved(made, E, diagcat(T, SX.eye(task.model.nv)), apart)
    *results, J = parts.at(apart, (*y, J), symbols, columns(task, own.inputs))
    return _named(own, results), J


def curved(
    task: Task, own: Expressions, w: SX, *, loops: bool, parts: Parts
) -> tuple[Mapping[str, SX], Result, Result]:
    """A step, its Jacobian, and the Hessian of its sum with weights; by `loops` over columns where they pay."""
    symbols, raw = symbols_of(task.signature[0]), SX.sym("w", w.size1())
    apart, made = parts.apart([*symbols, raw]), chain(task, symbols)
    T, E = _ends(task, own, made)
    turning = jacobian(T.T @ raw[: T.size1()], made.results[0]) @ T
    weights, ends = vertcat(T.T @ raw[: T.size1()], raw[T.size1() :]), diagcat(T, SX.eye(task.model.nv))
    given = [*symbols, raw], [*columns(task, own.inputs), w]
    if loops:
        y, *found = chained_products.curved(made, weights, turning, E, ends, apart)
        *results, J, slope, second = parts.at(apart, (*y, *found), *given)
    else:
        results = [*own.outputs.values()]
        J, slope, second = substitute([*made.curved(weights, turning)], given[0], [*map(densify, given[1])])
        T = substitute(ends, made.results[0], densify(next(iter(own.outputs.values()))))
        J, second = T @ J @ E, E.T @ second @ E
    constant = SX.sym("slope", slope.shape[0])
    bent = substitute(jacobian(E.T @ constant, own.x), constant, densify(plain_of(slope)))
    second = mirrored(second + bent) if isinstance(second, SX) else summed(second, (bent + bent.T) / 2)
    return _named(own, results), J, second


def pushed(task: Task, own: Expressions, dx: SX, parts: Parts) -> SX:
    """How the results of a step move along dx, of one column or more, by parts."""
    symbols, change = symbols_of(task.signature[0]), SX.sym("dx", dx.numel())
    apart, made = parts.apart([*symbols, change]), chain(task, symbols)
    T, E = _ends(task, own, made)
    start, end = E @ reshape(change, *dx.shape), diagcat(T, SX.eye(task.model.nv))
    if isinstance(made, Rooted):
        ends = [0, *accumulate(place.size(task.model.nv) for place in made.arguments)]
        found = at_root(made, end, apart).pushed(vertsplit(start, ends))
    else:
        found = link_products.pushed(made, start, end, apart)
    return plain_of(parts.at(apart, (found,), [*symbols, change], [*columns(task, own.inputs), vec(dx)])[0])


def pulled(task: Task, own: Expressions, w: SX, parts: Parts) -> SX:
    """The gradient of the sum with weights w, of one column or more, of a step's results, by parts."""
    symbols, weights = symbols_of(task.signature[0]), SX.sym("w", w.numel())
    apart, made = parts.apart([*symbols, weights]), chain(task, symbols)
    T, E = _ends(task, own, made)
    given, end = reshape(weights, *w.shape), diagcat(T, SX.eye(task.model.nv))
    if isinstance(made, Rooted):
        slope = at_root(made, end, apart).pulled(given)
    else:
        slope = link_products.pulled(made, given, end, apart)
    return plain_of(parts.at(apart, (E.T @ slope,), [*symbols, weights], [*columns(task, own.inputs), vec(w)])[0])


def root(task: Task, own: Expressions, parts: Parts) -> SX:
    """The root that an implicit step finds, by loops and parts."""
    symbols = symbols_of(task.signature[0])
    apart, made = parts.apart(symbols), chain(task, symbols)
    assert isinstance(made, Rooted), "a root is found"
    return plain_of(parts.at(apart, (made.reached(apart, True),), symbols, columns(task, own.inputs))[0])


def _named(own: Expressions, results: Sequence[Result]) -> Mapping[str, SX]:
    """The results of a step, which are numbers or expressions, by name."""
    return dict(zip(own.outputs, map(plain_of, results), strict=True))


def _ends(task: Task, own: Expressions, made: Chain | Rooted) -> tuple[SX, SX]:
    """T of the configuration that a step gives, and what makes tangents of changes of its arguments."""
    raw, end, parts = is_raw(task), made.results[0], list[SX]()
    for (name, x), taken in zip(own.inputs.items(), columns(task, own.inputs), strict=True):
        moves = is_configuration(name) and not raw
        parts.append(tangent_maps(task.model, x)[1] if moves else jacobian(taken, vec(x)))
    E = diagcat(*parts)
    return SX.eye(end.size1()) if raw else tangents(task.model, {}, end)[0], E
