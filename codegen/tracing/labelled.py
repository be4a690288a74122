"""Tracing with labels: the graph of a task, and of every value the phase and the body that it is for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from casadi import SX, symvar, veccat, vertcat, which_depends

from codegen.ir.graph import Graph, Port, from_casadi
from codegen.ir.operations import CONST, INPUT
from codegen.ir.products import WithProducts
from codegen.passes.dead import drop_dead
from codegen.tracing.casadi_operators import direct_operators
from codegen.tracing.phases import DERIVATIVES, REST, ROBOT, STATUS, TRANSFORMS
from codegen.tracing.products import with_loops, with_products
from codegen.tracing.provenance import Origin, Record, recorded
from codegen.tracing.status import with_status
from codegen.tracing.trace import expression, results_or_products, symbols_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.tracing.task import Task

UNKNOWN, FALLIBLE, MAPPED = Origin(REST, ROBOT), Origin(STATUS, ROBOT), Origin(DERIVATIVES, ROBOT)


@direct_operators()
def trace_labelled(task: Task) -> tuple[Graph | WithProducts, tuple[Origin, ...]]:
    """What `codegen.tracing.trace.trace_products` makes, with labels, and what these stand for."""
    with recorded() as record:
        inputs, outputs = task.signature
        symbols = symbols_of(inputs)
        kept = with_products(results_or_products(task, symbols, loops=True), outputs)
    noted = _known_by(symbols, veccat(SX(0, 1), *record.results))
    function = expression(task, symbols, [*kept.matrices, noted.T])
    graph = from_casadi(function, inputs, (*kept.ports, Port("noted", (noted.size1(),))), task.algorithm)
    places = [graph.results[-1][row] for row in noted.sparsity().row()]
    numbers = [label for result, label in zip(record.results, record.labels, strict=True) for _ in range(result.nnz())]
    known = dict[int, int]()
    for place, number in zip(places, numbers, strict=True):
        known.setdefault(place, number)
    whole, origins = _labelled(replace(graph, outputs=kept.ports, results=graph.results[:-1]), known, record)
    return _with_maps(with_loops(whole, kept, outputs), origins)


def _with_maps(
    function: Graph | WithProducts, origins: tuple[Origin, ...]
) -> tuple[Graph | WithProducts, tuple[Origin, ...]]:
    """The function with labels of its maps, which are all for derivatives, and what labels stand for then."""
    if not isinstance(function, WithProducts) or not function.maps:
        return function, origins
    known = tuple(dict.fromkeys((*origins, MAPPED)))
    maps = tuple(replace(own, label=known.index(MAPPED)) for own in function.maps)
    return replace(function, maps=maps), known


def _known_by(symbols: Sequence[SX], noted: SX) -> SX:
    """A column with zeros for what depends on other symbols, as functions have that are differentiated."""
    own = {symbol.element_hash() for symbol in symvar(vertcat(*symbols))}
    others = [symbol for symbol in symvar(noted) if symbol.element_hash() not in own]
    if others:
        noted = SX(noted)
        noted.nz[[n for n, does in enumerate(which_depends(noted, vertcat(*others), 1, True)) if does]] = 0
    return noted


def _labelled(graph: Graph, known: dict[int, int], record: Record) -> tuple[Graph, tuple[Origin, ...]]:
    """A graph of which labels of some values are known, with all labels and its status, without dead values."""
    numbers = dict(record.origins)
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
    return replace(checked, labels=(*living.labels, *[fallible] * more)), tuple(numbers)


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
