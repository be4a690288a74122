"""Tracing with labels: the graph of a task, and of every value the phase and the body that it is for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from casadi import SX, Function, symvar, vec, veccat, vertcat, which_depends

from codegen.ir.calls import GraphCall
from codegen.ir.graph import Graph, Port, from_casadi
from codegen.ir.operations import CONST, INPUT
from codegen.ir.products import WithProducts
from codegen.passes.dead import drop_dead
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.phases import DERIVATIVES, REST, ROBOT, STATUS, TRANSFORMS
from codegen.tracing.products import body_ports, with_loops
from codegen.tracing.provenance import Origin, Record, recorded
from codegen.tracing.status import with_status
from codegen.tracing.trace import kept_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.ir.products import AnyProduct
    from codegen.recursions.calls import Body
    from codegen.tracing.task import Task

UNKNOWN, FALLIBLE, MAPPED = Origin(REST, ROBOT), Origin(STATUS, ROBOT), Origin(DERIVATIVES, ROBOT)


@direct_operators()
def trace_labelled(task: Task) -> tuple[Graph | WithProducts, tuple[Origin, ...]]:
    """What `codegen.tracing.trace.trace_products` makes, with labels, and what these stand for."""
    with recorded() as record:
        symbols, kept = kept_of(task, bodies=partial(_body, record=record))
    inputs, outputs = task.signature
    made = [*zip(kept.matrices, kept.ports, strict=True)]
    graph = _graph(task.name, [*symbols, *kept.symbols], (*inputs, *kept.opened), made, record)
    return _with_steps(with_loops(graph, kept, outputs), record.origins)


def _with_steps(
    function: Graph | WithProducts, origins: Mapping[Origin, int]
) -> tuple[Graph | WithProducts, tuple[Origin, ...]]:
    """The function with labels of maps, all for derivatives, and of sums of statuses, and what labels stand for."""
    if not isinstance(function, WithProducts):
        return function, tuple(origins)
    known = tuple(dict.fromkeys((*origins, MAPPED)))
    maps = tuple(replace(own, label=known.index(MAPPED)) for own in function.maps)
    checked = tuple(_checking(own, known.index(FALLIBLE)) for own in function.products)
    return replace(function, maps=maps, products=checked), known


def _checking(own: AnyProduct, label: int) -> AnyProduct:
    """A call of a graph without labels, which sums statuses, with this one; other steps as they are."""
    if not isinstance(own, GraphCall) or own.graph.labels:
        return own
    return replace(own, graph=replace(own.graph, labels=(label,) * len(own.graph.values)))


def _body(own: Body, record: Record) -> Graph:
    """The graph of a function that is called, with labels."""
    return _graph(own.name, own.given, *body_ports(own), record)


def _graph(
    name: str, symbols: Sequence[SX], inputs: Sequence[Port], made: Sequence[tuple[SX, Port]], record: Record
) -> Graph:
    """The graph of matrices of symbols, with labels and its status; their origins are in the record then."""
    noted = _known_by(symbols, veccat(SX(0, 1), *record.results))
    results, ports = [vec(x.T) for x, _ in made], [port for _, port in made]
    function = Function(name, [*symbols], [*results, noted], {"live_variables": False})
    graph = from_casadi(function, tuple(inputs), (*ports, Port("noted", (noted.size1(),))), name)
    places = [graph.results[-1][row] for row in noted.sparsity().row()]
    numbers = [label for result, label in zip(record.results, record.labels, strict=True) for _ in range(result.nnz())]
    known = dict[int, int]()
    for place, number in zip(places, numbers, strict=True):
        known.setdefault(place, number)
    return _labelled(replace(graph, outputs=tuple(ports), results=graph.results[:-1]), known, record.origins)


def _known_by(symbols: Sequence[SX], noted: SX) -> SX:
    """A column with zeros for what depends on other symbols, as functions have that are differentiated."""
    own = {symbol.element_hash() for symbol in symvar(vertcat(*symbols))}
    others = [symbol for symbol in symvar(noted) if symbol.element_hash() not in own]
    if others:
        noted = SX(noted)
        noted.nz[[n for n, does in enumerate(which_depends(noted, vertcat(*others), 1, True)) if does]] = 0
    return noted


def _labelled(graph: Graph, known: dict[int, int], numbers: dict[Origin, int]) -> Graph:
    """A graph of which labels of some values are known, with all labels and its status, without dead values."""
    unknown, fallible = (numbers.setdefault(origin, len(numbers)) for origin in (UNKNOWN, FALLIBLE))
    labels = completed(graph, [known.get(index, -1) for index in range(len(graph.values))], unknown)
    origins = list(numbers)
    for index, value in enumerate(graph.values):
        if value.op in ("sin", "cos"):
            origin = Origin(TRANSFORMS, origins[labels[index]].body)
            labels[index] = numbers.setdefault(origin, len(numbers))
    living = drop_dead(replace(graph, labels=tuple(labels)))
    checked = with_status(replace(living, labels=()))
    more = len(checked.values) - len(living.values)
    return replace(checked, labels=(*living.labels, *[fallible] * more))


def completed(graph: Graph, labels: Sequence[int], unknown: int) -> list[int]:
    """Labels for all values: one that has none (-1), is an input or a constant, takes that of its first user.

    Where nothing with a label uses it, it takes that of an argument.
    """
    found, first = list(labels), [-1] * len(graph.values)
    for index in range(len(graph.values) - 1, -1, -1):
        value = graph.values[index]
        if (found[index] < 0 or value.op in (CONST, INPUT)) and first[index] >= 0:
            found[index] = found[first[index]]
        for arg in value.args:
            if found[index] >= 0 or first[arg] < 0:
                first[arg] = index
    for index, value in enumerate(graph.values):
        if found[index] < 0:
            found[index] = next((found[arg] for arg in value.args if found[arg] >= 0), -1)
    return [unknown if label < 0 else label for label in found]
