"""An iterative algorithm as three graphs around a loop: prepare, step, finish.

One graph holds the whole algorithm, with the iteration's state among its inputs; what does not depend on the state is
computed once, in `prepare`, and handed to the others through a workspace. The loop that runs them is a template.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STATE, NEXT, RESIDUAL, START, WORK = "state", "next", "residual", "start", "kept"


@dataclass(frozen=True, slots=True)
class Staged:
    """`prepare`: inputs -> work, state; `step`: work, state -> next, residual; `finish`: work, state -> outputs."""

    prepare: Graph
    step: Graph
    finish: Graph

    def __str__(self) -> str:
        work, state = (port.size for port in self.prepare.outputs)
        return f"{self.prepare.name} in stages: workspace {work}, state {state}"


def staged(graph: Graph) -> Staged:
    """Split a graph with an input `state` and the outputs `start`, `next` and `residual` before its own outputs."""
    graph = _pruned(graph)
    place = _state(graph)
    changing = _depending(graph, place)
    groups = {port.name: result for port, result in zip(graph.outputs, graph.results, strict=True)}
    own = [port for port in graph.outputs if port.name not in (START, NEXT, RESIDUAL)]
    later = [groups[NEXT], groups[RESIDUAL], *(groups[port.name] for port in own)]
    kept = _boundary(graph, changing, [index for result in later for index in result])
    inputs = tuple(port for k, port in enumerate(graph.inputs) if k != place)
    work, state = Port(WORK, (len(kept),)), graph.inputs[place]
    step = (Port(NEXT, state.shape), Port(RESIDUAL, (len(groups[RESIDUAL]),)))
    return Staged(
        _cut(graph, "prepare", inputs, {}, (work, state), (tuple(kept), groups[START])),
        _cut(graph, "step", (work, state), dict(zip(kept, range(len(kept)), strict=True)), step, later[:2]),
        _cut(graph, "finish", (work, state), dict(zip(kept, range(len(kept)), strict=True)), tuple(own), later[2:]),
    )


def _pruned(graph: Graph) -> Graph:
    """The graph without the elements of the state that neither a residual, an output nor a living element needs."""
    groups = {port.name: result for port, result in zip(graph.outputs, graph.results, strict=True)}
    ends = [index for name, result in groups.items() if name not in (START, NEXT) for index in result]
    place = _state(graph)
    order = {element: n for n, element in enumerate(sorted(_living(graph, place, ends, groups[NEXT])))}
    values = tuple(
        Value(INPUT, port=place, element=order.get(v.element, 0)) if v.op == INPUT and v.port == place else v
        for v in graph.values
    )
    state = Port(STATE, (len(order),), graph.inputs[place].about)
    results = tuple(
        tuple(groups[port.name][e] for e in order) if port.name in (START, NEXT) else groups[port.name]
        for port in graph.outputs
    )
    outputs = tuple(
        Port(port.name, state.shape, port.about) if port.name in (START, NEXT) else port for port in graph.outputs
    )
    inputs = (*graph.inputs[:place], state, *graph.inputs[place + 1 :])
    return Graph(graph.name, inputs, outputs, values, results)


def _state(graph: Graph) -> int:
    """The place of the state among the inputs."""
    return next(k for k, port in enumerate(graph.inputs) if port.name == STATE)


def _living(graph: Graph, place: int, ends: Sequence[int], after: Sequence[int]) -> set[int]:
    """The elements of the state that the ends need, or the values that such elements have after a step."""
    living: set[int] = set()
    while True:
        needed = _ancestors(graph, [*ends, *(after[e] for e in living)], {})
        found = {v.element for v in map(graph.values.__getitem__, needed) if v.op == INPUT and v.port == place}
        if found == living:
            return living
        living = found


def _depending(graph: Graph, place: int) -> list[bool]:
    """Which values depend on the state."""
    found: list[bool] = []
    for value in graph.values:
        own = value.op == INPUT and value.port == place
        found.append(own or any(found[arg] for arg in value.args))
    return found


def _boundary(graph: Graph, changing: Sequence[bool], results: Iterable[int]) -> list[int]:
    """The values that do not change but are used by those that do, or are results of a later stage; in order."""
    wanted = {index for index in results if not changing[index]}
    for index, value in enumerate(graph.values):
        if changing[index]:
            wanted.update(arg for arg in value.args if not changing[arg])
    return sorted(index for index in wanted if graph.values[index].op != CONST)


def _cut(
    graph: Graph,
    name: str,
    inputs: tuple[Port, ...],
    kept: dict[int, int],
    outputs: tuple[Port, ...],
    results: Sequence[Sequence[int]],
) -> Graph:
    """The part of the graph that leads to `results`, with `kept` values (by index: place in the workspace) given."""
    ports = {port.name: k for k, port in enumerate(inputs)}
    needed = _ancestors(graph, [index for result in results for index in result], kept)
    values: list[Value] = []
    moved: dict[int, int] = {}
    for index in sorted(needed):
        value = graph.values[index]
        if index in kept:
            value = Value(INPUT, port=ports[WORK], element=kept[index])
        elif value.op == INPUT:
            value = Value(INPUT, port=ports[graph.inputs[value.port].name], element=value.element)
        elif value.op != CONST:
            value = Value(value.op, tuple(moved[arg] for arg in value.args))
        moved[index] = len(values)
        values.append(value)
    placed = tuple(tuple(moved[index] for index in result) for result in results)
    return verify(Graph(f"{graph.name}_{name}", inputs, outputs, tuple(values), placed))


def _ancestors(graph: Graph, ends: Iterable[int], kept: dict[int, int]) -> set[int]:
    """All values that the ends need, no farther than the kept ones."""
    needed: set[int] = set()
    waiting = list(ends)
    while waiting:
        index = waiting.pop()
        if index not in needed:
            needed.add(index)
            if index not in kept:
                waiting.extend(graph.values[index].args)
    return needed
