"""Products of matrices as loops over tiles: the C function of each, and the order in which it finds its right factor.

A tile is a few columns of the right factor, of which only the rows with a number in it are kept. Loops multiply a tile
by a block of rows of the left factor at a time, whose sums stay in registers. The last tile and the last block overlap
those before where sizes do not divide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codegen.ir.graph import Graph, Port, Value, verify
from codegen.ir.operations import CONST
from codegen.ir.products import TILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.products import MatrixProduct, WithProducts

BLOCK = 8
"""Rows of a block, at most: so many sums of tiles fit into registers."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """The loops of one product: `columns` at which tiles begin, the rows that each keeps, sizes of tiles and blocks."""

    product: MatrixProduct
    inner: int
    columns: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    width: int
    block: int

    def __str__(self) -> str:
        return f"{self.product} in {len(self.columns)} tiles of {self.width} columns"

    @property
    def first(self) -> tuple[int, ...]:
        """Where each tile begins among the rows of all, and where the last one ends."""
        ends = [0]
        for rows in self.rows:
            ends.append(ends[-1] + len(rows))
        return tuple(ends)

    @property
    def steps(self) -> tuple[int, int]:
        """From row to row of the left factor as it is multiplied, and along a row."""
        return (1, self.size[0]) if self.product.transposed else (self.inner, 1)

    @property
    def places(self) -> tuple[int, ...]:
        """Where the left factor has what the rows of all tiles are multiplied by."""
        return tuple(row * self.steps[1] for rows in self.rows for row in rows)

    @property
    def last(self) -> int:
        """The row at which the last block begins."""
        return self.size[0] - self.block

    @property
    def size(self) -> tuple[int, ...]:
        """Rows and columns of the result."""
        return self.product.port.shape

    @property
    def blocks(self) -> int:
        """Blocks of rows."""
        return -(-self.size[0] // self.block)


def tiled(function: WithProducts) -> tuple[WithProducts, tuple[Tiles, ...]]:
    """The function with the right factors of its products in the order of their tiles, and these."""
    graph = function.graph
    for name in dict.fromkeys(product.right for product in function.products):
        graph = _in_tiles(graph, name)
    return replace(function, graph=verify(graph)), tuple(
        _tiles(function.graph, product) for product in function.products
    )


def _in_tiles(graph: Graph, name: str) -> Graph:
    """The graph with a right factor in the order of its tiles."""
    place = [port.name for port in graph.outputs].index(name)
    count, result = graph.outputs[place].shape[1], graph.results[place]
    order = [
        result[row * count + column]
        for columns in _columns(count)
        for row in _rows(graph, result, count, columns)
        for column in columns
    ]
    outputs, results = [*graph.outputs], [*graph.results]
    outputs[place], results[place] = Port(name, (len(order),)), tuple(order)
    return Graph(graph.name, graph.inputs, tuple(outputs), graph.values, tuple(results))


def _tiles(graph: Graph, product: MatrixProduct) -> Tiles:
    """The loops of a product."""
    place = [port.name for port in graph.outputs].index(product.right)
    inner, count = graph.outputs[place].shape
    columns = _columns(count)
    rows = tuple(_rows(graph, graph.results[place], count, own) for own in columns)
    height = product.port.shape[0]
    block = -(-height // -(-height // BLOCK))  # as many blocks as there have to be, of equal size if that goes up
    return Tiles(product, inner, tuple(own.start for own in columns), rows, TILE, block)


def _columns(count: int) -> list[range]:
    """The columns of every tile."""
    return [range(start, start + TILE) for start in (min(start, count - TILE) for start in range(0, count, TILE))]


def _rows(graph: Graph, result: Sequence[int], count: int, columns: range) -> tuple[int, ...]:
    """The rows that have anything but zeros in these columns."""
    rows, zero = range(len(result) // count), Value(CONST)
    return tuple(row for row in rows if any(graph.values[result[row * count + column]] != zero for column in columns))
