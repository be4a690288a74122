"""Dead-code elimination: values that no result depends on are left out."""

from __future__ import annotations

from itertools import accumulate, compress

from codegen.ir.graph import Graph
from codegen.passes.rewriting import renumbered


def drop_dead(graph: Graph) -> Graph:
    """The same results from the values they need, in the same order."""
    values = graph.values
    live = graph.needed_by([index for result in graph.results for index in result])
    if all(live):
        return graph
    moved = [number - 1 for number in accumulate(map(int, live))]
    kept = tuple([renumbered(value, moved) for value in compress(values, live)])
    labels = tuple(compress(graph.labels, live))
    results = tuple(tuple([moved[index] for index in result]) for result in graph.results)
    return Graph(graph.name, graph.inputs, graph.outputs, kept, results, labels)
