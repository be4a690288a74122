"""A graph in stages: some of its inputs are known only after loops and calls have computed them from earlier results.

Each value is computed once, at the first stage at which it can be, and is kept for later ones that need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

Place = tuple[Port, int]
"""A port, and the number of an element of it."""


def divided(graph: Graph, after: Sequence[int]) -> tuple[Graph, ...]:
    """The graphs of all stages; `after` says of every input from which stage on it is known.

    The first takes all inputs that are known at once, each other one what it needs: inputs, and results of earlier
    stages by their ports, which are outputs of the whole, or else named `carried0`, `carried1`, ...
    """
    if not any(after):
        return (graph,)
    stages = list[int]()
    for value in graph.values:
        stages.append(after[value.port] if value.op == INPUT else max((stages[arg] for arg in value.args), default=0))
    own = [max((stages[index] for index in result), default=0) for result in graph.results]
    places = _places(graph, stages, own)
    return tuple(_stage(graph, stage, stages, own, places, after) for stage in range(max(after) + 1))


def _places(graph: Graph, stages: Sequence[int], own: Sequence[int]) -> dict[int, Place]:
    """Where values are kept that a later stage than their own needs."""
    last = [*stages]
    for index, value in enumerate(graph.values):
        for arg in value.args:
            last[arg] = max(last[arg], stages[index])
    for stage, result in zip(own, graph.results, strict=True):
        for index in result:
            last[index] = max(last[index], stage)
    later = [k for k, value in enumerate(graph.values) if last[k] > stages[k] and value.op not in (CONST, INPUT)]
    found = dict[int, Place]()
    for port, stage, result in zip(graph.outputs, own, graph.results, strict=True):
        for element, index in enumerate(result):
            if stages[index] == stage:
                found.setdefault(index, (port, element))
    known = {index: found[index] for index in later if index in found}
    for stage in sorted({stages[index] for index in later}):
        carried = [index for index in later if stages[index] == stage and index not in known]
        port = Port(f"carried{stage}", (len(carried),))
        known |= {index: (port, element) for element, index in enumerate(carried)}
    return known


def _stage(
    graph: Graph,
    stage: int,
    stages: Sequence[int],
    own: Sequence[int],
    places: dict[int, Place],
    after: Sequence[int],
) -> Graph:
    """The graph of one stage."""
    pairs = [(port, result) for port, at, result in zip(graph.outputs, own, graph.results, strict=True) if at == stage]
    kept = [(place[0], index) for index, place in places.items() if stages[index] == stage]
    carried = [(port, index) for port, index in kept if port.name == f"carried{stage}"]
    if carried:
        pairs.append((carried[0][0], tuple(index for _, index in carried)))
    inputs = {port.name: port for port, at in zip(graph.inputs, after, strict=True) if stage == at == 0}
    values, moved = list[Value](), dict[int, int]()

    def put(index: int) -> None:
        value = graph.values[index]
        if value.op == INPUT or (stages[index] < stage and value.op != CONST):
            port, element = (graph.inputs[value.port], value.element) if value.op == INPUT else places[index]
            inputs.setdefault(port.name, port)
            value = Value(INPUT, port=[*inputs].index(port.name), element=element)
        else:
            value = value._replace(args=tuple([moved[arg] for arg in value.args]))
        moved[index] = len(values)
        values.append(value)

    needed = _needed(graph, stages, stage, [index for _, result in pairs for index in result])
    for index, wanted in enumerate(needed):
        if wanted:
            put(index)
    results = tuple(tuple(moved[index] for index in result) for _, result in pairs)
    labels = tuple(graph.labels[index] for index in moved) if graph.labels else ()
    name = f"stage{stage}" if stage else graph.name
    return verify(Graph(name, tuple(inputs.values()), tuple(port for port, _ in pairs), tuple(values), results, labels))


def _needed(graph: Graph, stages: Sequence[int], stage: int, ends: Sequence[int]) -> list[bool]:
    """Whether each value is one of the ends, or what this stage computes them from, or what it takes for that."""
    needed = [False] * len(graph.values)
    for index in ends:
        needed[index] = True
    for index in range(len(needed) - 1, -1, -1):
        if needed[index] and stages[index] == stage:
            for arg in graph.values[index].args:
                needed[arg] = True
    return needed
