"""Rows of matrices that begin where SIMD registers do: zeros behind every row, up to a multiple of a tile's columns.

Rows of 50 numbers begin anywhere in a line of memory, and a register of eight numbers is then read from two lines. What
only products of matrices take is no argument of the function and can have longer rows; nothing is computed for them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.operations import CONST
from codegen.ir.products import TILE, MatrixProduct, names_taken

if TYPE_CHECKING:
    from codegen.ir.products import Gather, WithProducts

LEAST = 4 * TILE
"""Columns from which rows are padded: most tiles of narrower matrices are at their ends, or are no loops."""


def padded(function: WithProducts) -> WithProducts:
    """The same function, in which matrices between products have rows of a multiple of a tile's columns."""
    others = [own for own in function.steps if not isinstance(own, MatrixProduct)]
    fixed = {name for own in others for name in names_taken(own)} | {port.name for port in function.outputs}
    wider = {port.name: _wider(port) for port in function.graph.outputs if port.name not in fixed and _narrow(port)}
    for own in function.steps:
        if not isinstance(own, MatrixProduct) or own.symmetric or own.port.name in fixed:
            continue
        if {own.plus, *(term.right for term in own.terms)} <= {"", *wider}:  # rows as long as those that make it
            wider[own.port.name] = _wider(own.port)
    if not wider:
        return function
    now = tuple(
        replace(own, port=wider.get(own.port.name, own.port)) if isinstance(own, MatrixProduct) else own
        for own in function.products
    )
    old = {port.name: port for port in function.kept}
    gathers = tuple(
        _moved(own, old[own.source], wider[own.source]) if own.source in wider else own for own in function.gathers
    )
    return replace(function, graph=_padded(function.graph, wider), products=now, gathers=gathers)


def _narrow(port: Port) -> bool:
    """Whether a matrix has long rows, whose length is no multiple of a tile's."""
    return len(port.shape) == 2 and port.shape[1] >= LEAST and port.shape[1] % TILE > 0


def _wider(port: Port) -> Port:
    rows, columns = port.shape
    return replace(port, shape=(rows, -(-columns // TILE) * TILE))


def _padded(graph: Graph, wider: dict[str, Port]) -> Graph:
    """The graph with zeros behind the rows of these results."""
    values, results = (*graph.values, Value(CONST)), list[tuple[int, ...]]()
    for port, result in zip(graph.outputs, graph.results, strict=True):
        if port.name in wider:
            columns, zeros = port.shape[1], [len(graph.values)] * (wider[port.name].shape[1] - port.shape[1])
            rows = (result[start : start + columns] for start in range(0, port.size, columns))
            result = tuple(index for row in rows for index in (*row, *zeros))
        results.append(result)
    labels = (*graph.labels, *graph.labels[-1:])
    outputs = tuple(wider.get(port.name, port) for port in graph.outputs)
    return verify(replace(graph, values=values, labels=labels, outputs=outputs, results=tuple(results)))


def _moved(own: Gather, old: Port, new: Port) -> Gather:
    """A gather out of a matrix with longer rows."""
    columns, wider = old.shape[1], new.shape[1]
    return replace(own, places=tuple(place // columns * wider + place % columns for place in own.places))
