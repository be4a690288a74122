"""Masked products as loops over segments: columns of a row that belong to one part, or to none, in order.

A segment is computed by small vectors from its start on. The last of these may reach beyond it, where the next segment
of the row, of zeros if it is of no part, overwrites what is too much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.ir.products import VECTOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codegen.ir.products import MaskedMatrixProduct

    Read = tuple[str, Sequence[int], Sequence[int]]
    """Of the matrix of a port's name, these rows and columns."""


@dataclass(frozen=True, slots=True)
class Segments:
    """The loop of one masked product, or of two of the same left factors and masks.

    `segments` are row, number of the part (of zeros: that after the last), first column and end. `inner` are the rows
    of the right factors, by parts.
    """

    products: tuple[MaskedMatrixProduct, ...]
    inner: tuple[int, ...]
    segments: tuple[tuple[int, int, int, int], ...]

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.products))} in {len(self.segments)} segments"

    @property
    def size(self) -> tuple[int, ...]:
        """Rows and columns of a result."""
        return self.products[0].port.shape

    @property
    def symmetric(self) -> bool:
        """Whether only the upper triangle is computed."""
        return self.products[0].symmetric

    def steps(self, part: int) -> tuple[int, int]:
        """From row to row of a part's left factor as it is multiplied, and along a row."""
        return (1, self.size[0]) if self.products[0].parts[part].transposed else (self.inner[part], 1)

    def reads(self) -> Iterator[Read]:
        """What they read of matrices."""
        for row, part, start, end in self.segments:
            for own in (product.parts[part] for product in self.products if part < len(self.inner)):
                inner, across = range(self.inner[part]), range(start, min(end + VECTOR - 1, self.size[1]))
                yield own.left, *((inner, [row]) if own.transposed else ([row], inner))
                yield own.right, inner, across


def segmented(products: tuple[MaskedMatrixProduct, ...], shapes: Mapping[str, tuple[int, ...]]) -> Segments:
    """The loop of products of matrices of these shapes, by name."""
    first = products[0]
    return Segments(products, tuple(shapes[part.right][0] for part in first.parts), tuple(_segments(first)))


def _segments(product: MaskedMatrixProduct) -> Iterator[tuple[int, int, int, int]]:
    rows, columns = product.port.shape
    none = len(product.parts)
    runs = sorted((*run, k) for k, part in enumerate(product.parts) for run in part.runs)
    for row in range(rows):
        own = [run[1:] for run in runs if run[0] == row]
        at = row if product.symmetric else 0
        for start, stop, part in [*own, (columns, columns, none)]:
            if at < start:
                yield row, none, at, start
            if start < stop:
                yield row, part, start, stop
            at = stop
