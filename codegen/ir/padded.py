"""Rows of matrices that begin where SIMD registers do: zeros behind every row, up to a multiple of a tile's columns.

Rows of 50 numbers begin anywhere in a line of memory, and a register of eight numbers is then read from two lines. What
only loops take is no argument of the function and can have longer rows; nothing is counted for them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ir.calls import GraphCall
from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.maps import GraphMap
from codegen.ir.operations import CONST, INPUT
from codegen.ir.products import TILE, VECTOR, MaskedMatrixProduct, MatrixProduct, made_by, names_taken

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from codegen.ir.products import AnyProduct, Gather, WithProducts

LEAST = 4 * TILE
"""Columns from which rows are padded: most tiles of narrower matrices are at their ends, or are no loops.

Those of five to seven are one register of eight numbers then.
"""


def padded(function: WithProducts) -> WithProducts:
    """The same function, in which matrices between loops have rows of a multiple of a tile's columns."""
    wider = {port.name: _wider(port) for port in function.kept if _narrow(port)}
    while refused := {name for own in function.steps for name in _refused(function, own, wider)} & wider.keys():
        wider = {name: port for name, port in wider.items() if name not in refused}
    if not wider:
        return function
    old = {port.name: port for port in function.kept}
    products = tuple(_stored(own, old, wider) for own in function.products)
    gathers = tuple(
        _moved(own, old[own.source], wider[own.source]) if own.source in wider else own for own in function.gathers
    )
    maps = tuple(_lengthened(own, wider) for own in function.maps)
    return replace(function, graph=_padded(function.graph, wider), products=products, gathers=gathers, maps=maps)


def _refused(function: WithProducts, own: AnyProduct | GraphMap, wider: Collection[str]) -> Iterator[str]:
    """Matrices whose rows may not be longer for what a step takes or makes, if no more than these are."""
    made = [port.name for port in made_by(own)]
    if isinstance(own, GraphMap) and own.by_rows:
        yield from (port.name for port in own.ports if port.shape[0] != own.count)  # their rows are end to end
    elif isinstance(own, GraphMap):  # all of them, or none
        yield from () if {*own.names, *made} <= {*wider} else (*own.names, *made)
    elif isinstance(own, GraphCall):
        called = [other.graph is own.graph for other in function.products if isinstance(other, GraphCall)]
        yield from () if sum(called) == 1 else (*own.takes, *made)
    elif isinstance(own, MaskedMatrixProduct):
        rights = {part.right for part in own.parts}
        yield from () if rights <= {*wider} and not own.symmetric else made
    elif isinstance(own, MatrixProduct):
        rights = {term.right for term in own.terms}
        yield from () if {*rights, own.plus} <= {"", *wider} and not own.symmetric else made
        yield from (port.name for step in function.maps for port in step.ports if port.name in {*rights, own.plus})
    else:
        yield from (*names_taken(own), *made)


def _stored(own: AnyProduct, old: dict[str, Port], wider: dict[str, Port]) -> AnyProduct:
    """A product that makes such matrices, or a call that takes or makes some."""
    if isinstance(own, MatrixProduct | MaskedMatrixProduct):
        return replace(own, port=wider.get(own.port.name, own.port))
    if isinstance(own, GraphCall) and not {*own.takes, *(port.name for port in own.ports)}.isdisjoint(wider):
        ports = tuple(wider.get(port.name, port) for port in own.ports)
        pairs = zip(own.graph.outputs, ports, strict=True)
        made = {inner.name: replace(outer, name=inner.name) for inner, outer in pairs if outer.name in wider}
        graph = _reading(own.graph, [(old[name], wider[name]) if name in wider else None for name in own.takes])
        return replace(own, graph=_padded(graph, made), ports=ports)
    return own


def _reading(graph: Graph, taken: list[tuple[Port, Port] | None]) -> Graph:
    """A graph whose inputs are numbers of matrices with longer rows, where there is a pair of an old and a new one."""
    inputs = tuple(
        replace(port, shape=(pair[1].size,)) if pair else port for port, pair in zip(graph.inputs, taken, strict=True)
    )

    def moved(value: Value) -> Value:
        pair = taken[value.port] if value.op == INPUT else None
        return value._replace(element=_place(value.element, *pair)) if pair else value

    return replace(graph, inputs=inputs, values=tuple(map(moved, graph.values)))


def _narrow(port: Port) -> bool:
    """Whether a matrix has long rows, or such that nearly fill a register, whose length is no multiple of a tile's."""
    if len(port.shape) != 2:
        return False
    return port.shape[1] % TILE > 0 and (port.shape[1] >= LEAST or TILE - VECTOR < port.shape[1] < TILE)


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


def _lengthened(own: GraphMap, wider: dict[str, Port]) -> GraphMap:
    """A map of such matrices, and of tables with zeros behind their rows."""
    names = (*own.takes, *(port.name for port in own.ports))
    across = next((wider[name].shape[1] for name in names if isinstance(name, str) and name in wider), 0)
    if not across:
        return own

    def length(name: str | tuple[float, ...], usual: int) -> int:
        if own.by_rows:
            return wider[name].shape[1] if isinstance(name, str) and name in wider else usual
        return across

    stored = tuple(map(length, names, own.lengths))
    takes = tuple(x if isinstance(x, str) or own.by_rows else _spread(x, own.count, across) for x in own.takes)
    return replace(own, takes=takes, ports=tuple(wider.get(port.name, port) for port in own.ports), stored=stored)


def _spread(table: tuple[float, ...], columns: int, across: int) -> tuple[float, ...]:
    rows = (table[start : start + columns] for start in range(0, len(table), columns))
    return tuple(x for row in rows for x in (*row, *[0.0] * (across - columns)))


def _moved(own: Gather, old: Port, new: Port) -> Gather:
    """A gather out of a matrix with longer rows."""
    return replace(own, places=tuple(_place(place, old, new) for place in own.places))


def _place(place: int, old: Port, new: Port) -> int:
    """Where an element of a matrix is if its rows are longer."""
    return place // old.shape[1] * new.shape[1] + place % old.shape[1]
