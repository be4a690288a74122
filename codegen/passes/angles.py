"""All angles come first, sine and cosine of each together, so that they can be taken in one go.

An angle that depends on another angle's sine or cosine stays where it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.graph import Graph, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAIR = ("sin", "cos")


def hoist_angles(graph: Graph) -> Graph:
    """First the values that angles are made of, then sines and cosines in pairs, then all others in their order."""
    order = list(_order(graph))
    if order == list(range(len(order))):
        return graph
    moved = [0] * len(order)
    for place, index in enumerate(order):
        moved[index] = place
    values = []
    for index in order:
        value = graph.values[index]
        values.append(Value(value.op, tuple([moved[arg] for arg in value.args])) if value.args else value)
    results = tuple(tuple([moved[index] for index in result]) for result in graph.results)
    return Graph(graph.name, graph.inputs, graph.outputs, tuple(values), results)


def _order(graph: Graph) -> Iterator[int]:
    values = graph.values
    turning = [value.op in _PAIR for value in values]
    late = list(turning)
    for index, value in enumerate(values):
        for arg in value.args:
            late[index] |= late[arg]
    pairs: dict[int, list[int]] = {}
    for index, value in enumerate(values):
        if turning[index]:
            pairs.setdefault(value.args[0], []).append(index)
    early = [angle for angle in pairs if not late[angle]]
    needed = [False] * len(values)
    for angle in early:
        needed[angle] = True
    for index in range(len(values) - 1, -1, -1):
        if needed[index]:
            for arg in values[index].args:
                needed[arg] = True
    done = needed
    yield from [index for index in range(len(values)) if needed[index]]
    for index in [index for angle in early for index in pairs[angle]]:
        done[index] = True
        yield index
    for index, value in enumerate(values):
        if not done[index]:
            for member in pairs[value.args[0]] if turning[index] else (index,):
                done[member] = True
                yield member
