"""Trigonometry first: sine and cosine of each angle together, before all else, so that they can be vectorised.

An angle that depends on another angle's sine or cosine stays where it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ir.graph import Graph
from codegen.passes.rewriting import renumbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PAIR = ("sin", "cos")


def hoist_angles(graph: Graph) -> Graph:
    """First the values that angles are made of, then sines and cosines in pairs, then all others in their order."""
    return reordered(graph, list(_order(graph)))


def reordered(graph: Graph, order: Sequence[int]) -> Graph:
    """The graph with its values in this order; the graph itself if that is theirs."""
    if order == list(range(len(order))):
        return graph
    moved = [0] * len(order)
    for place, index in enumerate(order):
        moved[index] = place
    values = tuple([renumbered(graph.values[index], moved) for index in order])
    results = tuple(tuple([moved[index] for index in result]) for result in graph.results)
    labels = tuple([graph.labels[index] for index in order]) if graph.labels else ()
    return Graph(graph.name, graph.inputs, graph.outputs, values, results, labels)


def pairs(graph: Graph) -> dict[int, list[int]]:
    """By angles: their sines and cosines."""
    found: dict[int, list[int]] = {}
    for index, value in enumerate(graph.values):
        if value.op in _PAIR:
            found.setdefault(value.args[0], []).append(index)
    return found


def in_front(graph: Graph) -> list[int]:
    """What belongs in front: sines and cosines that depend on no other, after all that they depend on."""
    values = graph.values
    late = [value.op in _PAIR for value in values]
    for index, value in enumerate(values):
        for arg in value.args:
            late[index] |= late[arg]
    early = [own for own in pairs(graph).values() if not any(late[arg] for index in own for arg in values[index].args)]
    front = [index for members in early for index in members]
    needed = graph.needed_by([arg for index in front for arg in values[index].args])  # packs have several
    return [index for index in range(len(values)) if needed[index]] + front


def _order(graph: Graph) -> Iterator[int]:
    front, members = in_front(graph), pairs(graph)
    done = [False] * len(graph.values)
    for index in front:
        done[index] = True
    yield from front
    for index, value in enumerate(graph.values):
        if not done[index]:
            for member in members[value.args[0]] if value.op in _PAIR else (index,):
                done[member] = True
                yield member
