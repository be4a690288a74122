"""Directional (jvp) and adjoint (vjp) products of the derivatives of any algorithm, in tangent coordinates.

`jvp`: arguments and a direction of each (dq, dv, ...) -> the derivatives of the results along them (da, ...).
`vjp`: arguments and weights of the results (abar, ...) -> the gradient of the results' sum with these weights by every
argument (qbar, vbar, ...).
`hvp`: arguments, weights and directions -> how this gradient changes along them (dqbar, dvbar, ...).
`hessian`: arguments and weights -> all of these changes, as a matrix whose columns are along all arguments, one after
the other. `tensor`: arguments -> the hessians of all results, one below the other.
Directions and gradients of a configuration have nv numbers: configurations move along the tangents of joints, as
`integrate` moves them, and where loops tie joints, along what these allow. By algorithmic differentiation; results that
solve equations (`codegen.tracing.implicit`) by the implicit function theorem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from casadi import SX, densify, jacobian, substitute, vertcat

from codegen.algorithms import QUANTITIES
from codegen.errors import UnsuitedError
from codegen.ir.graph import Port
from codegen.ir.products import straight_line
from codegen.limits import MOST_SECONDS
from codegen.recursions.composition import Composition
from codegen.spatial import mirrored
from codegen.tracing import composed_products, whole_hessians
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.chained import chain, is_chain, is_raw
from codegen.tracing.composed_products import by_parts
from codegen.tracing.differential import differential, moves, split
from codegen.tracing.equations import of_results
from codegen.tracing.products import with_loops
from codegen.tracing.tangents import tangents
from codegen.tracing.trace import read, symbols_of, trace_products
from codegen.tracing.whole_hessians import by_products

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.ir.graph import Graph
    from codegen.ir.products import WithProducts
    from codegen.tracing.differential import Differential
    from codegen.tracing.products import Kept
    from codegen.tracing.task import Task

Axes = tuple[str | int, ...]
ALONG = "along the tangents of joints"
HESSIAN, TENSOR, ARGUMENTS = "hessian", "tensor", "arguments"
VECTORS = ("jvp", "vjp", "hvp")


def traced(task: Task) -> Graph:
    """The graph of a task as written, in the form that it asks for; products of matrices as straight-line code."""
    return straight_line(function_of(task))


def function_of(task: Task) -> Graph | WithProducts:
    """The same, with large products of matrices kept as such."""
    if task.form.derivative == HESSIAN and by_products(task):
        return _looped(task, whole_hessians.kept_of)
    if task.form.derivative in VECTORS and by_parts(task):
        return _looped(task, composed_products.kept_of)
    return _derivative(task) if task.form.derivative else trace_products(task)


def signature(task: Task) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """The inputs and outputs of the generated function of a task; RobotError if it has no such derivative."""
    inputs, outputs = task.signature
    if not task.form.derivative:
        return inputs, outputs
    if "residual" in task.entry.outputs:
        raise UnsuitedError(
            f"{task.algorithm} has no {task.form.derivative}: where loops are closed, its residual has no derivative; "
            "take that of another function, whose configurations move with loops closed"
        )
    directions = tuple(_direction(task, port) for port in inputs)
    weights = tuple(_weight(task, port) for port in outputs)
    if task.form.derivative == "jvp":
        return (*inputs, *directions), tuple(_change(task, port) for port in outputs)
    if task.form.derivative == "vjp":
        return (*inputs, *weights), tuple(_gradient(task, port) for port in inputs)
    if task.form.derivative == "hvp":
        return (*inputs, *weights, *directions), tuple(_curvature(task, port) for port in inputs)
    n, along = sum(port.size for port in directions), ", ".join(port.name for port in inputs)
    if task.form.derivative == "hessian":
        about = f"second derivative of the weighted sum of results, rows and columns along {along}"
        return (*inputs, *weights), (Port(HESSIAN, (n, n), about),)
    about = f"second derivatives of all results, each a matrix with rows and columns along {along}"
    tensor = Port(TENSOR, (sum(port.size for port in weights), n, n), about)
    if tensor.size > MOST_SECONDS:
        raise UnsuitedError(
            f"{task.model.name}: the tensor of {task.algorithm} would have {tensor.size:,} elements, more than "
            f"{MOST_SECONDS:,}; take the hessian of results' weighted sum, or products along directions (hvp)"
        )
    return inputs, (tensor,)


def axes(task: Task) -> dict[str, Axes]:
    """What the axes of arguments and results run over, as in `QUANTITIES`; but for those of numbers of the model."""
    primal = {p.name: QUANTITIES[p.name].shape for ports in task.signature for p in ports if p.name in QUANTITIES}
    known: dict[str, Axes] = {}
    for name, shape in primal.items():
        known[f"d{name}"] = known[f"{name}bar"] = ("nv",) if moves(name) else shape
    known |= primal | {HESSIAN: (ARGUMENTS, ARGUMENTS), TENSOR: ("results", ARGUMENTS, ARGUMENTS)}
    known |= {
        f"d{y}_d{x}": (*QUANTITIES[y].shape, *QUANTITIES[x].shape)
        for y in task.entry.differentiates
        for x in task.form.wrt
        if x in QUANTITIES
    }
    return {port.name: known[port.name] for ports in signature(task) for port in ports if port.name in known}


def matrices(task: Task) -> tuple[str, ...]:
    """The results whose columns are coordinates of joints, or of states, or rows of contacts."""
    along, columns = axes(task), ("nv", "nx", "contacts", ARGUMENTS)
    names = [port.name for port in signature(task)[1] if port.name in along]
    return tuple(name for name in names if len(along[name]) > 1 and along[name][-1] in columns)


def _tangent(task: Task, port: Port, name: str, about: str) -> Port:
    """A port for directions, weights or gradients of a port."""
    along = moves(port.name)
    return Port(name, (task.model.nv,) if along else port.shape, f"{about}{f', {ALONG}' if along else ''}")


def _direction(task: Task, port: Port) -> Port:
    return _tangent(task, port, f"d{port.name}", f"direction of {port.name}")


def _change(task: Task, port: Port) -> Port:
    return _tangent(task, port, f"d{port.name}", f"derivative of {port.name} along the directions")


def _weight(task: Task, port: Port) -> Port:
    return _tangent(task, port, f"{port.name}bar", f"weights of {port.name}")


def _gradient(task: Task, port: Port) -> Port:
    return _tangent(task, port, f"{port.name}bar", f"gradient by {port.name} of the weighted sum of results")


def _curvature(task: Task, port: Port) -> Port:
    return _tangent(task, port, f"d{port.name}bar", f"change of the gradient by {port.name} along the directions")


@direct_operators()
def _derivative(task: Task) -> Graph:
    """The graph of a product of derivatives."""
    (inputs, outputs), (given, made) = task.signature, signature(task)
    symbols = symbols_of(given)
    others = [vertcat(*part) for part in (symbols[len(inputs) :], symbols[len(inputs) + len(outputs) :])]
    own = differential(task, symbols[: len(inputs)])
    if task.form.derivative == "jvp":
        found = own.jvp(others[0])
    elif task.form.derivative == "vjp":
        found = own.vjp(others[0])
    elif task.form.derivative == "hvp":
        found = own.hvp(vertcat(*symbols[len(inputs) : len(inputs) + len(outputs)]), others[1])
    else:
        return read(task, symbols, given, [_second(task, own, symbols[: len(inputs)], others[0])], made)
    return read(task, symbols, given, split(found, made), made)


@direct_operators()
def _looped(task: Task, kept_of: Callable[..., Kept]) -> Graph | WithProducts:
    """The function of what products of matrices, loops and calls make of a task's arguments, weights and directions."""
    given, made = signature(task)
    symbols = symbols_of(given)
    kept = kept_of(task, symbols, given, made)
    graph = read(task, [*symbols, *kept.symbols], (*given, *kept.opened), kept.matrices, kept.ports)
    return with_loops(graph, kept, made)


def _second(task: Task, own: Differential, arguments: list[SX], weights: SX) -> SX:
    """The Hessian of results' sum with weights, or the Hessians of all results, one below the other."""
    w = weights if task.form.derivative == HESSIAN else SX.sym("w", own.outwards.size1())
    if is_chain(task):
        second = chain(task, arguments).curved(w).second
    elif is_raw(task) and moves(task.signature[1][0].name) and isinstance(task.entry.run, Composition):
        second = _of_raw_step(task, own, arguments, w)
    else:
        second = of_results(task, own, arguments, w)[1]
    H = _symmetric(task, own, second)
    if task.form.derivative == HESSIAN:
        return H
    return vertcat(*[substitute(H, w, densify(SX.eye(w.size1())[:, k])) for k in range(w.size1())])


def _of_raw_step(task: Task, own: Differential, arguments: list[SX], weights: SX) -> SX:
    """The Hessian of a step whose links move by positions as they are: by these, then along tangents at both ends."""
    made, nv, T = chain(task, arguments), task.model.nv, own.inwards
    end = made.results[0]
    raw = tangents(task.model, {}, end)[1].T @ weights[:nv]
    found = made.curved(vertcat(raw, weights[nv:]), jacobian(raw, end))
    return T.T @ found.second @ T + own.turning(found.slope, T)


def _symmetric(task: Task, own: Differential, H: SX) -> SX:
    """A Hessian by its upper triangle, but for the blocks of joints whose tangents turn with their own motion."""
    if not own.outwards.is_constant():
        return H
    found, start = mirrored(H), 0
    for port in task.signature[0]:
        for joint in task.model.v_slices if moves(port.name) else ():
            at = slice(start + joint.start, start + joint.stop)
            found[at, at] = H[at, at]
        start += task.model.nv if moves(port.name) else port.size
    return found
