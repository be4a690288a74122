"""Masked products by tiles of eight columns, for registers of eight numbers.

Columns of a part's right factor stay in registers while a loop runs along the rows that have entries of this part
there. Masks choose these entries among the eight. What comes first of a row is stored with zeros around it; what comes
later is put beside that. Rows of zeros come last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.products import TILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codegen.ir.products import MaskedMatrixProduct

    Read = tuple[str, Sequence[int], Sequence[int]]
    """Of the matrix of a port's name, these rows and columns."""

    Mask = tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class MaskedTiles:
    """Tiles, each with its first column and where its rows begin; then, of every part, where rows begin that hold
    another part already, and where they end; at last where rows of zeros end.

    `rows` are their numbers, each with that of its mask.
    """

    tiles: tuple[tuple[int, ...], ...]
    rows: tuple[tuple[int, int], ...]
    masks: tuple[Mask, ...]

    def __str__(self) -> str:
        return f"{len(self.rows)} rows in {len(self.tiles)} tiles, {len(self.masks)} masks"

    def met(self, part: int) -> Iterator[int]:
        """First columns of the tiles that have entries of a part."""
        for column, *ends in self.tiles:
            if ends[2 * part] < ends[2 * part + 2]:
                yield column


def masked_tiles(product: MaskedMatrixProduct) -> MaskedTiles:
    """The tiles of a product of eight columns or more."""
    height, width = product.port.shape
    here = np.zeros((len(product.parts), height, width), bool)
    for k, part in enumerate(product.parts):
        for row, start, stop in part.runs:
            here[k, row, start:stop] = True
    tiles, rows = list[tuple[int, ...]](), list[tuple[int, int]]()
    masks: dict[Mask, int] = {}
    for column in (min(start, width - TILE) for start in range(0, width, TILE)):
        tile, done = [column, len(rows)], set[int]()
        for own in here[:, :, column : column + TILE]:
            met = [int(row) for row in np.flatnonzero(own.any(axis=1))]
            fresh, late = [row for row in met if row not in done], [row for row in met if row in done]
            tile += [len(rows) + len(fresh), len(rows) + len(met)]
            rows += [(row, masks.setdefault(tuple(map(bool, own[row])), len(masks))) for row in (*fresh, *late)]
            done |= {*met}
        last = min(height, column + TILE) if product.symmetric else height
        rows += [(row, 0) for row in range(last) if row not in done]
        tiles.append((*tile, len(rows)))
    return MaskedTiles(tuple(tiles), tuple(rows), tuple(masks))


def reads(own: MaskedTiles, products: Sequence[MaskedMatrixProduct], inner: Sequence[int]) -> Iterator[Read]:
    """What they read of right factors with so many rows, part by part."""
    for k, size in enumerate(inner):
        for column in own.met(k):
            yield from ((made.parts[k].right, range(size), range(column, column + TILE)) for made in products)
