"""Masked products as loops over segments: columns of a row that belong to one part, or to none, in order.

A segment is computed by small vectors from its start on. The last of these may reach beyond it, where the next segment
of the row, of zeros if it is of no part, overwrites what is too much.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from codegen.emission.long_sums import TABLE
from codegen.emission.masked_tiles import masked_tiles
from codegen.emission.masked_tiles import reads as reads_of_tiles
from codegen.emission.text import place
from codegen.ir.products import TILE, VECTOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from codegen.emission.masked_tiles import AlikeRows, Read
    from codegen.ir.products import MaskedMatrixProduct, MaskedPart

    Pattern = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Segments:
    """The loop of one masked product, or of two of the same left factors and masks.

    `segments` are row, number of the part (of zeros: that after the last), first column and end. `inner` are the rows
    of the right factors, by parts; rows of matrices that they take are stored in so many numbers, by names of ports.
    Where rows of a part's left factor have one number each that may differ from zero, `only` has its column by rows.
    `wide` are tiles of the same, row by row, for registers of twice the size.
    """

    products: tuple[MaskedMatrixProduct, ...]
    stored: Mapping[str, int]
    inner: tuple[int, ...]
    only: tuple[tuple[int, ...], ...]
    segments: tuple[tuple[int, int, int, int], ...]
    wide: tuple[AlikeRows, ...] = ()

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
        own = self.products[0].parts[part]
        return own.steps(self.stored[own.left])

    def step(self, product: int, part: int) -> int:
        """From row to row of a right factor."""
        return self.stored[self.products[product].parts[part].right]

    @property
    def table(self) -> list[str]:
        """The segments as lines of C, which end between segments."""
        rows = [f"{{{','.join(map(str, own))}}}," for own in self.segments]
        return [line.replace(" ", "") for line in wrap(" ".join(rows), TABLE)]

    @property
    def tables(self) -> list[str]:
        """Those of the columns of such left factors, as lines of C."""
        return [
            f"static const int only{k}[] = {{ {', '.join(map(str, own))} }};" for k, own in enumerate(self.only) if own
        ]

    def pairs(self, part: int, product: int, right: str, column: str) -> list[tuple[str, str]]:
        """Numbers of a part's left factor in a row, and what they multiply of a product's `right` at a column, in C."""
        (across, along), step, left = self.steps(part), self.step(product, part), f"left{part}"
        if self.only[part]:
            only = f"only{part}[row]"
            return [(f"{left}[{place('row', across, 0)} + {only}*{along}]", f"{right}[{only}*{step} + {column}]")]
        inner = range(self.inner[part])
        return [(f"{left}[{place('row', across, n * along)}]", f"{right}[{n * step} + {column}]") for n in inner]

    def reads(self) -> Iterator[Read]:
        """What they read of matrices."""
        yield from reads_of_tiles(self.wide, self.products, self.inner)
        for row, part, start, end in self.segments:
            for own in (product.parts[part] for product in self.products if part < len(self.inner)):
                inner = [self.only[part][row]] if self.only[part] else range(self.inner[part])
                across = range(start, min(end + VECTOR - 1, self.size[1]))
                yield own.left, *((inner, [row]) if own.transposed else ([row], inner))
                yield own.right, inner, across


def segmented(products: tuple[MaskedMatrixProduct, ...], known: Mapping[str, Pattern]) -> Segments:
    """The loop of products of matrices that may differ from zero there, by name."""
    first, stored = products[0], {name: known[name].shape[1] for own in products for name in own.takes}
    inner = tuple(len(known[part.right]) for part in first.parts)
    only = tuple(_only(part, known) for part in first.parts)
    alike = all(
        stored[x.right] == stored[y.right] for own in products for x, y in zip(first.parts, own.parts, strict=True)
    )
    wide = masked_tiles(first) if alike and first.port.shape[1] >= 2 * TILE else ()
    return Segments(products, stored, inner, only, tuple(_segments(first)), wide)


def _only(part: MaskedPart, known: Mapping[str, Pattern]) -> tuple[int, ...]:
    """Where rows of a part's left factor may differ from zero, up to the last that is taken, if each may do so once."""
    left, _ = part.factors(known)
    rows = [row for row, *_ in part.runs]
    if not rows or left.shape[1] == 1 or any(np.count_nonzero(left[row]) != 1 for row in rows):
        return ()
    return tuple(int(np.argmax(row)) for row in left[: max(rows) + 1])


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
