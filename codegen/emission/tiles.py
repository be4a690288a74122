"""Products of matrices as loops over tiles: what each tile takes from the factors.

A tile is a few columns of the result and a block of its rows, whose sums stay in registers while loops run along the
rows of the right factor that meet a number of the left one. The last tile and the last block overlap those before
where sizes do not divide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.products import TILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codegen.ir.products import MatrixProduct, WithProducts

    Pattern = NDArray[np.bool_]

BLOCK = 6
"""Rows of a block, at most: so many sums of tiles fit into registers."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """The loops of one product, over tiles of `block` rows and `width` columns.

    `tiles` are first row, first column, and where their own rows of the right factor begin and end among `rows`.
    """

    product: MatrixProduct
    inner: int
    tiles: tuple[tuple[int, int, int, int], ...]
    rows: tuple[int, ...]
    width: int
    block: int

    def __str__(self) -> str:
        return f"{self.product} in {len(self.tiles)} tiles of {self.block} x {self.width}"

    @property
    def size(self) -> tuple[int, ...]:
        """Rows and columns of the result."""
        return self.product.port.shape

    @property
    def steps(self) -> tuple[int, int]:
        """From row to row of the left factor as it is multiplied, and along a row."""
        return (1, self.size[0]) if self.product.transposed else (self.inner, 1)


def tiled(function: WithProducts) -> tuple[Tiles, ...]:
    """The loops of every product."""
    known, found = function.patterns(), []
    for product in function.products:
        left, right = known[product.left], known[product.right]
        found.append(_tiles(product, left.T if product.transposed else left, right))
    return tuple(found)


def _tiles(product: MatrixProduct, left: Pattern, right: Pattern) -> Tiles:
    """The loops of a product of matrices that may differ from zero there."""
    height, width = product.port.shape
    block = -(-height // -(-height // BLOCK))  # as many blocks as there have to be, of equal size if that goes up
    tiles, rows, known = [], list[int](), dict[tuple[int, ...], int]()
    for column in _starts(width, TILE):
        for row in _starts(height, block):
            if product.symmetric and row > column + TILE - 1:
                continue
            met = left[row : row + block].any(axis=0) & right[:, column : column + TILE].any(axis=1)
            own = tuple(int(k) for k in np.flatnonzero(met))
            if own not in known:
                known[own] = len(rows)
                rows += own
            tiles.append((row, column, known[own], known[own] + len(own)))
    return Tiles(product, left.shape[1], tuple(tiles), tuple(rows) or (0,), TILE, block)


def _starts(size: int, step: int) -> Sequence[int]:
    """Where tiles begin, the last of which may overlap the one before."""
    return [min(start, size - step) for start in range(0, size, step)]
