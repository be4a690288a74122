"""Masked products by tiles of eight columns, for registers of eight numbers.

Columns of right factors stay in registers while loops run along rows of a tile that have entries of the same parts.
Masks choose the entries of each part among the eight; where there are none, zeros are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.products import TILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codegen.ir.products import MaskedMatrixProduct

    Read = tuple[str, Sequence[int], Sequence[int]]
    """Of the matrix of a port's name, these rows and columns."""

    Mask = tuple[bool, ...]


MANY = 3
"""Rows of the same masks that have a loop of their own. Fewer take theirs from a table, as compilers unroll them."""


@dataclass(frozen=True, slots=True)
class AlikeRows:
    """Rows below each other, from a column on: the numbers of parts with entries there, and their places row by row."""

    column: int
    rows: range
    parts: tuple[int, ...]
    masks: tuple[tuple[Mask, ...], ...]

    def __str__(self) -> str:
        return f"{len(self.rows)} rows from {self.rows.start}, {self.column}: parts {', '.join(map(str, self.parts))}"


def masked_tiles(product: MaskedMatrixProduct) -> tuple[AlikeRows, ...]:
    """The rows of a product of eight columns or more, tile by tile, and those of the same parts after each other."""
    height, width = product.port.shape
    here = np.zeros((len(product.parts), height, width), bool)
    for k, part in enumerate(product.parts):
        for row, start, stop in part.runs:
            here[k, row, start:stop] = True
    found = list[AlikeRows]()
    for column in dict.fromkeys(min(start, width - TILE) for start in range(0, width, TILE)):
        last = min(height, column + TILE) if product.symmetric else height
        rows = [[tuple(map(bool, own[row, column : column + TILE])) for own in here] for row in range(last)]
        found += sorted(_alike(column, rows), key=lambda own: own.parts)
    return tuple(found)


def _alike(column: int, rows: Sequence[Sequence[Mask]]) -> Iterator[AlikeRows]:
    """Rows of a tile, from their masks of all parts: many of the same masks, or others of the same parts."""
    many = [(masks, count) for masks, own in groupby(rows) for count in [len([*own])] for _ in range(count)]
    at = 0
    for (parts, _), own in groupby(many, lambda row: (_met(row[0]), row[0] if row[1] >= MANY else None)):
        masks = tuple(tuple(masks[k] for k in parts) for masks, _ in own)
        yield AlikeRows(column, range(at, at := at + len(masks)), parts, masks)


def _met(masks: Sequence[Mask]) -> tuple[int, ...]:
    """The parts that have entries."""
    return tuple(k for k, mask in enumerate(masks) if any(mask))


def reads(rows: Sequence[AlikeRows], products: Sequence[MaskedMatrixProduct], inner: Sequence[int]) -> Iterator[Read]:
    """What they read of right factors with so many rows, part by part."""
    for column, part in dict.fromkeys((own.column, part) for own in rows for part in own.parts):
        yield from ((made.parts[part].right, range(inner[part]), range(column, column + TILE)) for made in products)
