"""Constants in graphs that are called: numbers that all their calls are given as constants, or as zeros of products."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.calls import GraphCall
from codegen.ir.graph import Value
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codegen.ir.graph import Graph, Port
    from codegen.ir.products import WithProducts

    Constants = dict[int, float]
    """By elements of a port."""


def propagated(function: WithProducts) -> WithProducts:
    """The same function, whose graphs have constants in the place of inputs; itself, if none has any."""
    known, calls = _constants(function), dict[int, list[GraphCall]]()
    for own in function.products:
        if isinstance(own, GraphCall):
            calls.setdefault(id(own.graph), []).append(own)
    told = {key: _told(own[0].graph, [_given(call, known) for call in own]) for key, own in calls.items()}
    if all(told[key] is own[0].graph for key, own in calls.items()):
        return function
    products = (
        replace(own, graph=told[id(own.graph)]) if isinstance(own, GraphCall) else own for own in function.products
    )
    return replace(function, products=tuple(products))


def _constants(function: WithProducts) -> dict[str, Constants]:
    """Those that graphs make, and zeros of products, by names of ports."""
    known = {name: dict.fromkeys(np.flatnonzero(~own).tolist(), 0.0) for name, own in function.patterns().items()}
    known |= _made(function.graph, function.graph.outputs)
    for own in function.products:
        if isinstance(own, GraphCall):
            known |= _made(own.graph, own.ports)
    return known


def _made(graph: Graph, ports: Sequence[Port]) -> dict[str, Constants]:
    """Those that a graph makes at these ports."""
    return {
        port.name: {k: graph.values[index].constant for k, index in enumerate(own) if graph.values[index].op == CONST}
        for port, own in zip(ports, graph.results, strict=True)
    }


def _given(call: GraphCall, known: dict[str, Constants]) -> dict[tuple[int, int], float]:
    """Those that a call is given, by ports of its graph and elements."""
    return {(k, element): x for k, name in enumerate(call.takes) for element, x in known.get(name, {}).items()}


def _told(graph: Graph, given: Sequence[dict[tuple[int, int], float]]) -> Graph:
    """The graph with constants that it is given at all of its calls; itself, if it needs none of these."""
    first, *others = given
    same = {place: x for place, x in first.items() if all(own.get(place) == x for own in others)}
    values = tuple(_values(graph, same))
    return graph if values == graph.values else replace(graph, values=values)


def _values(graph: Graph, same: dict[tuple[int, int], float]) -> Iterator[Value]:
    for value in graph.values:
        place = value.port, value.element
        yield Value(CONST, constant=same[place]) if value.op == INPUT and place in same else value
