"""Products of many terms as loops: over tiles of the result, over terms, and over rows of right factors.

A term of a tile takes rows of its right factor from the first to the last that may differ from zero in the tile's
columns, and meet a number of the left factor in its rows. Tables have these ends by columns and by rows: lists of rows
tile by tile, as in `codegen.emission.tiles`, would be as long as the code for so many terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from codegen.emission.text import render
from codegen.ir.products import VECTOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.emission.masked_tiles import Read
    from codegen.emission.words import Words
    from codegen.ir.products import MatrixProduct

    Pattern = NDArray[np.bool_]

MANY = 5
"""Terms from which loops go over them."""

BLOCK, ACROSS = 4, 2
"""Rows of a tile, and vectors in each: so many sums stay in registers."""

TABLE = 112
"""Columns of a table."""

Ends = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LongSum:
    """The loops of one product; matrices that it takes have rows of so many numbers (`stored`), by names of ports.

    Of every block of rows and then of every tile's columns, `down` and `across` have the ends of each term's rows of
    its right factor. Vectors have so `many` numbers. `wide` are loops for registers of twice the size.
    """

    product: MatrixProduct
    stored: Mapping[str, int]
    down: tuple[tuple[Ends, ...], ...]
    across: tuple[tuple[Ends, ...], ...]
    many: int
    wide: LongSum | None = None

    def __str__(self) -> str:
        return f"{self.product} in {len(self.down)} x {len(self.across)} tiles of {BLOCK} x {self.width}"

    @property
    def products(self) -> tuple[MatrixProduct, ...]:
        """What they make."""
        return (self.product,)

    @property
    def size(self) -> tuple[int, ...]:
        """Rows and columns of the result."""
        return self.product.port.shape

    @property
    def symmetric(self) -> bool:
        """Whether only the upper triangle is computed."""
        return self.product.symmetric

    @property
    def width(self) -> int:
        """Columns of a tile."""
        return ACROSS * self.many

    @property
    def steps(self) -> list[tuple[int, int, int]]:
        """Of every term, from row to row of the left factor as it is multiplied and along one, and of the right one."""
        return [(*own.steps(self.stored[own.left]), self.stored[own.right]) for own in self.product.terms]

    def reads(self) -> Iterator[Read]:
        """What they read of matrices, the wide ones too."""
        yield from self.wide.reads() if self.wide else ()
        rows, columns = self.size
        for top, by_rows in zip(starts(rows, BLOCK), self.down, strict=True):
            for first, by_columns in zip(starts(columns, self.width), self.across, strict=True):
                down, across = range(top, top + BLOCK), range(first, first + self.width)
                if self.symmetric and top >= first + self.width:
                    continue
                for term, (one, end), (other, stop) in zip(self.product.terms, by_rows, by_columns, strict=True):
                    inner = range(max(one, other), min(end, stop))
                    yield term.left, *((inner, down) if term.transposed else (down, inner))
                    yield term.right, inner, across
                if self.product.plus:
                    yield self.product.plus, down, across

    @property
    def tables(self) -> tuple[str, ...]:
        """The lines of tables that any way of these loops reads."""
        shape = f"[][{len(self.steps)}][2]"
        alike = len({*self.steps}) == 1
        steps = [] if alike else [("steps[][3]", _wrapped(f"{{{x},{y},{z}}}" for x, y, z in self.steps))]
        return tuple(
            line
            for name, lines in ((f"down{shape}", _ends(self.down)), *steps)
            for line in (f"static const unsigned short {name} = {{", *lines, "};")
        )

    def lines(self, real: str, words: Words) -> tuple[str, ...]:
        """The lines of the loops themselves, behind tables, without the copies of a symmetric result."""
        (rows, columns), steps, number = self.size, self.steps, range(len(self.product.terms))
        alike = len({*steps}) == 1
        down, along, right = map(str, steps[0]) if alike else (f"steps[n][{k}]" for k in range(3))
        plus = self.stored[self.product.plus] if self.product.plus else 0

        def own(of: str, row: int, vector: int, length: int) -> str:
            return f"{of}[(row + {row})*{length} + j + {vector}*{words.width}]"

        def start(row: int, vector: int) -> str:
            return words.read.format(own("plus0", row, vector, plus)) if plus else words.zero

        sums = [(f"s{row}_{v}", row, v) for row in range(BLOCK) for v in range(ACROSS)]
        text = render(
            "product_sum.jinja",
            real=real,
            type=words.type,
            step=f"{ACROSS}*{words.width}",
            table=_ends(self.across),
            factors=[
                ("left", _wrapped(f"left{n}" for n in number)),
                ("right", _wrapped(f"right{n}_0" for n in number)),
            ],
            terms=len(number),
            tiles=len(self.across),
            blocks=f"(column + {self.width + BLOCK - 1})/{BLOCK}" if self.symmetric else len(self.down),
            rows=_start("block", rows, BLOCK),
            columns=_start("tile", columns, self.width),
            width=self.width,
            down=down,
            along=along,
            below=right,
            starts=[(name, start(row, v)) for name, row, v in sums],
            loads=[(f"x{v}", words.read.format(f"b[{v}*{words.width}]")) for v in range(ACROSS)],
            products=[(name, row * steps[0][0] if alike else f"{row}*{down}", f"x{v}") for name, row, v in sums],
            ends=[(words.write.format(own("to0", row, v, columns)), name) for name, row, v in sums],
        )
        return tuple(line for line in text.splitlines() if line)


def long_sum(product: MatrixProduct, known: Mapping[str, Pattern], many: int) -> LongSum:
    """The loops of a product of matrices that may differ from zero there, with vectors of so `many` numbers."""
    rows, columns = product.port.shape
    factors = [term.factors(known, product.port.shape) for term in product.terms]
    across = [
        tuple(_met(right[:, start : start + ACROSS * many], 1) for _, right in factors)
        for start in starts(columns, ACROSS * many)
    ]
    down = [tuple(_met(left[start : start + BLOCK], 0) for left, _ in factors) for start in starts(rows, BLOCK)]
    stored = {name: known[name].shape[1] for name in product.takes}
    return LongSum(product, stored, tuple(down), tuple(across), many)


def is_long(product: MatrixProduct) -> bool:
    """Whether loops go over the terms of a product."""
    rows, columns = product.port.shape
    return len(product.terms) >= MANY and not product.onto and rows >= BLOCK and columns >= 2 * ACROSS * VECTOR


def starts(size: int, step: int) -> tuple[int, ...]:
    """Where tiles begin, the last of which may overlap the one before."""
    return tuple(min(start, size - step) for start in range(0, size, step))


def _start(number: str, size: int, step: int) -> str:
    """Where the tile of a number begins, in C."""
    begins, last = f"{number}*{step}", size - step
    return f"{begins} < {last} ? {begins} : {last}" if last % step else begins


def _met(part: Pattern, axis: int) -> Ends:
    """The first and the last rows or columns, along the other `axis`, that may differ from zero, as ends of a range."""
    found = np.flatnonzero(part.any(axis=axis))
    return (int(found[0]), int(found[-1]) + 1) if len(found) else (0, 0)


def _ends(table: Sequence[Sequence[Ends]]) -> list[str]:
    """Lines of a table of ends."""
    return _wrapped("{" + ",".join(f"{{{first},{end}}}" for first, end in row) + "}" for row in table)


def _wrapped(words: Iterable[str]) -> list[str]:
    """Elements of an array as lines of C."""
    return [line.replace(" ", "") for line in wrap(", ".join(words).replace("},{", "}, {"), TABLE)]
