"""Results as their nonzeros: the border of a function, once its operations are what they are going to be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.operations import CONST
from codegen.ir.pattern import Pattern
from codegen.ir.products import Gather, WithProducts, made_by

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def sparse(function: Graph | WithProducts, matrices: Collection[str]) -> Graph | WithProducts:
    """The function whose results of these names are their nonzeros, column by column, with their pattern.

    A structural zero is an element that is the constant 0 whatever the inputs are. The columns of a matrix are the last
    axis of its port; axes before it are rows, in row-major order.
    """
    return _gathered(function, matrices) if isinstance(function, WithProducts) else sparse_results(function, matrices)


def sparse_results(graph: Graph, matrices: Collection[str]) -> Graph:
    """The same of straight-line code."""
    outputs, results = [], []
    for port, result in zip(graph.outputs, graph.results, strict=True):
        if port.name in matrices:
            port, result = _nonzeros(graph.values, port, result)
        outputs.append(port)
        results.append(result)
    return verify(Graph(graph.name, graph.inputs, tuple(outputs), graph.values, tuple(results)))


def with_results_of(function: WithProducts, outputs: Sequence[Port]) -> WithProducts | None:
    """The function with the nonzeros that these ports of the same matrices have, in the place of its own.

    Loops do not see every zero that straight-line code shows. None if results that are not gathered differ.
    """
    shapes, wanted = {port.name: port.shape for port in function.kept}, {port.name: port for port in outputs}

    def moved(own: Gather) -> Gather:
        port, columns = wanted[own.port.name], shapes[own.source][-1]
        pattern = port.pattern or Pattern((0, 0), (), (0,))
        places = zip(pattern.indices, pattern.columns, strict=True)
        return replace(own, port=port, places=tuple(row * columns + column for row, column in places))

    gathers = tuple(moved(own) for own in function.gathers if own.port.name in wanted)
    made = {own.port.name: own.port for own in gathers}
    found = tuple(made.get(port.name, port) for port in function.outputs)
    return replace(function, outputs=found, gathers=gathers) if found == tuple(outputs) else None


def _nonzeros(values: Sequence[Value], port: Port, result: tuple[int, ...]) -> tuple[Port, tuple[int, ...]]:
    """The port of a matrix's nonzeros, and these."""
    columns = port.shape[-1]
    rows = port.size // columns if columns else 0
    places = [divmod(e, columns) for e, index in enumerate(result) if values[index] != Value(CONST)]
    pattern = Pattern.of((rows, columns), places)
    own = tuple(result[row * columns + c] for row, c in zip(pattern.indices, pattern.columns, strict=True))
    return replace(port, shape=(pattern.nnz,), pattern=pattern), own


def _gathered(function: WithProducts, matrices: Collection[str]) -> WithProducts:
    """The same of a function with products: what these make or take stays whole, and nonzeros are gathered from it."""
    taken = {name for own in function.products for name in (*own.takes, *(port.name for port in made_by(own)))}
    taken |= {name for own in function.maps for name in own.names}
    whole = {name: f"{name}_whole" for name in (port.name for port in function.outputs) if name in taken & {*matrices}}
    graph, patterns = sparse_results(function.graph, {*matrices} - taken), function.patterns()
    made, gathers, outputs = {port.name: port for port in graph.outputs}, list[Gather](), list[Port]()
    for port in function.outputs:
        outputs.append(made.get(port.name, port))
        if port.name in whole:
            rows, columns = port.shape
            places = ((int(row), int(column)) for row, column in np.argwhere(patterns[port.name]))
            pattern = Pattern.of((rows, columns), places)
            outputs[-1] = replace(port, shape=(pattern.nnz,), pattern=pattern)
            own = tuple(row * columns + c for row, c in zip(pattern.indices, pattern.columns, strict=True))
            gathers.append(Gather(outputs[-1], whole[port.name], own))
    function = replace(function, graph=graph).renamed(whole)
    return replace(function, outputs=tuple(outputs), gathers=tuple(gathers))
