"""Dead-code elimination: values that no result depends on are left out."""

from __future__ import annotations

from codegen.ir.graph import Graph, Value
from codegen.passes.rewriting import NEW


def drop_dead(graph: Graph) -> Graph:
    """The same results from the values they need, in the same order."""
    values = graph.values
    live = graph.needed_by([index for result in graph.results for index in result])
    if all(live):
        return graph
    first = live.index(False)
    moved, kept = list(range(len(values))), list(values[:first])
    labels = tuple([label for label, lives in zip(graph.labels, live, strict=True) if lives]) if graph.labels else ()
    for index in range(first, len(values)):
        if live[index]:
            value = values[index]
            moved[index] = len(kept)
            args = tuple([moved[arg] for arg in value[1]])
            kept.append(value if args == value[1] else NEW(Value, (value[0], args, *value[2:])))
    results = tuple(tuple([moved[index] for index in result]) for result in graph.results)
    return Graph(graph.name, graph.inputs, graph.outputs, tuple(kept), results, labels)
