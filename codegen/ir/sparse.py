"""Results as their nonzeros: the border of a graph, once its operations are what they are going to be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.operations import CONST
from codegen.ir.pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def sparse(graph: Graph, matrices: Collection[str]) -> Graph:
    """The graph whose results of these names are their nonzeros, column by column, with their pattern.

    A structural zero is an element that is the constant 0 whatever the inputs are. The columns of a matrix are the last
    axis of its port; axes before it are rows, in row-major order.
    """
    outputs, results = [], []
    for port, result in zip(graph.outputs, graph.results, strict=True):
        if port.name in matrices:
            port, result = _nonzeros(graph.values, port, result)
        outputs.append(port)
        results.append(result)
    return verify(Graph(graph.name, graph.inputs, tuple(outputs), graph.values, tuple(results)))


def _nonzeros(values: Sequence[Value], port: Port, result: tuple[int, ...]) -> tuple[Port, tuple[int, ...]]:
    """The port of a matrix's nonzeros, and these."""
    columns = port.shape[-1]
    rows = port.size // columns if columns else 0
    places = [divmod(e, columns) for e, index in enumerate(result) if values[index] != Value(CONST)]
    pattern = Pattern.of((rows, columns), places)
    own = tuple(result[row * columns + c] for row, c in zip(pattern.indices, pattern.columns, strict=True))
    return replace(port, shape=(pattern.nnz,), pattern=pattern), own
