"""Small products of matrices as straight-line code: a small vector, or a number, of a result after the other.

Loops over tiles multiply the zeros that fill up a tile, and read two numbers for a product. Here every vector is the
sum of what its own row meets, and columns of the right factor are read before, and stay in registers while all rows of
a result are made.
Further terms are added where the first one is. Of vectors of eight numbers, rows that meet the same are a loop: those
of all limbs that have only their base in common with that of a column. Of numbers, columns that meet the same are one:
those of a limb.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import TYPE_CHECKING

import numpy as np

from codegen.emission.text import place
from codegen.ir.products import VECTOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.ir.products import MatrixProduct

    Pattern = NDArray[np.bool_]

MOST = {2 * VECTOR: 2400, VECTOR: 1600, 1: 4000}
"""Products in the text, of vectors and of numbers, up to which it is faster than loops, which are fetched once.

On an AMD EPYC (Zen 4) 2,500 of vectors took 0.6 times as long as loops, called again and again. In derivatives of
quadrupeds on four feet, which are longer than the first cache, loops for 1,700 saved 1 to 6 percent (Zen 3). Those of
numbers, in lanes, take a tenth less for Go1 on four feet than with 2,500, and 3 percent for Solo12 (Zen 5).
"""


SHARE = 16
"""Rows of a right factor that fit into registers beside what else is there, where sums are in memory anyway."""

ROWS = 24
"""Rows of a right factor of which all numbers in a column fit into registers, or nearly, where columns are a loop."""

ALIKE = 4
"""Rows one after the other that meet the same, from which a loop takes less time than to fetch a sum for each."""


@dataclass(frozen=True, slots=True)
class RowSum:
    """A vector or a number of a term of a product, at a row and a column; `inner` rows of a right factor make it.

    With those below it are so many `rows` of which each takes the same, or the next one if it `slides`, as where a left
    factor is diagonal. These are of one `share` of the right factor. What is added is read if it is no vector of zeros
    (`plus`). A number has `width` 1, and so many `columns` beside each other are made of the same rows.
    """

    product: int
    term: int
    row: int
    column: int
    inner: tuple[int, ...]
    rows: int = 1
    share: int = 0
    plus: bool = False
    width: int = 1
    slides: bool = False
    columns: int = 1

    def __str__(self) -> str:
        below = f" and {self.rows - 1} more" if self.rows > 1 else ""
        beside = f" of {self.columns}" if self.columns > 1 else ""
        return f"row {self.row}{below} from column {self.column}{beside}: {len(self.inner)} products"

    @property
    def down(self) -> range:
        """Its rows."""
        return range(self.row, self.row + self.rows)

    @property
    def across(self) -> range:
        """Its columns."""
        return range(self.column, self.column + self.width * self.columns)

    @property
    def met(self) -> Iterator[tuple[range, tuple[int, ...]]]:
        """Its rows, and those of the right factor that they take."""
        if not self.slides:
            yield self.down, self.inner
            return
        for n, row in enumerate(self.down):
            yield range(row, row + 1), tuple(k + n for k in self.inner)

    def place(self, length: int, column: int, beside: str = "") -> str:
        """Where matrices with rows of so many numbers have a column of its rows, in C, or one `beside` that."""
        own = place("row", length, column) if self.rows > 1 else str(self.row * length + column)
        return own + beside

    @property
    def beside(self) -> str:
        """What leads to the others of its columns, in C."""
        return " + j" if self.columns > 1 else ""


def row_sums(products: Sequence[MatrixProduct], known: Mapping[str, Pattern], width: int) -> tuple[RowSum, ...]:
    """The vectors of so many numbers of products of one left factor, by columns; none if they take too much.

    Nor are there any of rows of fewer numbers, unless those of the right factor are as long.
    """
    sums = _sums
    if products[0].port.shape[1] < width:
        terms = [term for own in products for term in own.terms]
        if len(terms) > len(products) or any(known[term.right].shape[1] < width for term in terms):
            return ()
        sums = _of_short_rows
    each = (own for number, product in enumerate(products) for own in sums(number, product, known, width))
    found = tuple(_beside(each) if width == 1 else each)
    return found if sum(len(own.inner) for own in found) <= MOST[width] else ()


def overwritten_late(product: MatrixProduct, known: Mapping[str, Pattern]) -> bool:
    """Whether a product goes onto what it adds to, and rows of that are read, with their share, before they change."""
    rows, inner = np.nonzero(product.terms[0].factors(known, product.port.shape)[0])
    return product.onto and bool((inner // SHARE >= rows // SHARE).all())


def _sums(number: int, product: MatrixProduct, known: Mapping[str, Pattern], width: int) -> Iterator[RowSum]:
    """Those of one product: zeros, and then the columns between the first and the last that may differ from zero.

    Of one that goes onto what it adds to, no columns come twice, and only so many rows of the right factor at a time.
    """
    factors = [term.factors(known, product.port.shape) for term in product.terms]
    pattern = product.pattern(known)
    rows, columns = pattern.shape
    plus: Pattern = np.full_like(pattern, product.onto)
    plus |= known[product.plus][:, :columns] if product.plus else False
    used = np.flatnonzero(np.any([right.any(axis=0) for _, right in factors], axis=0))
    first, end = (int(used[0]), int(used[-1]) + 1) if len(used) else (columns, columns)
    first -= first % width if product.onto else 0
    for start, stop in ((0, first), (end, columns), (first, end)):
        for column in (min(at, columns - width) for at in range(start, stop, width)):
            for term, (left, right) in enumerate(factors):
                own: Pattern = np.any(right[:, column : column + width] & (start == first), axis=1)
                last = min(rows, column + width) if product.symmetric else rows
                adds: Pattern = np.any(plus[:last, column : column + width], axis=1)
                for share, some in enumerate(_shares(own) if product.onto else [own]):
                    met = [tuple(np.flatnonzero(row & some).tolist()) for row in left[:last]]
                    least = ALIKE if width == 2 * VECTOR else last + 1
                    for row, inner, alike, slides in _runs(met, least, 0 if product.onto else -rows):
                        if inner or not (term or product.onto):
                            added = adds[row : row + alike].any()
                            yield RowSum(number, term, row, column, inner, alike, share, bool(added), width, slides)


def _beside(sums: Iterable[RowSum]) -> Iterator[RowSum]:
    """The same numbers: those of columns beside each other that are made of the same few rows together."""
    found = list[list[RowSum]]()
    for _, column in groupby(sums, lambda own: (own.product, own.column)):
        own = [*column]
        few = all(len({k for x in of_term for k in x.inner}) <= ROWS for _, of_term in groupby(own, lambda x: x.term))
        if few and found and own == [replace(x, column=x.column + x.columns, columns=1) for x in found[-1]]:
            found[-1] = [replace(x, columns=x.columns + 1) for x in found[-1]]
        else:
            found.append(own)
    yield from chain.from_iterable(found)


def _of_short_rows(number: int, product: MatrixProduct, known: Mapping[str, Pattern], width: int) -> Iterator[RowSum]:
    """Those of one product with shorter rows: each reaches into the row below, which overwrites that.

    The last row, which has none below, is made of small vectors.
    """
    rows, columns = product.port.shape
    yield from (replace(own, width=width) for own in _sums(number, product, known, columns) if own.row < rows - 1)
    yield from (own for own in _sums(number, product, known, VECTOR) if own.row == rows - 1)


def _shares(rows: Pattern) -> Iterator[Pattern]:
    """So many of these rows after the other."""
    for start in range(0, len(rows), SHARE):
        within = np.zeros(len(rows), bool)
        within[start : start + SHARE] = True
        yield rows & within


Run = tuple[int, tuple[int, ...], int, bool]
"""A row, what it meets, and how many rows there are below one another that meet the same, or each the next one."""


def _runs(met: Sequence[tuple[int, ...]], least: int, ahead: int) -> Iterator[Run]:
    """The rows, at `least` so many together, that meet the same, or each one at least so far `ahead`; or a single one.

    Of a product that goes onto what it takes, rows above are overwritten.
    """
    alone = list[int]()
    for inner, own in groupby(range(len(met)), lambda row: met[row]):
        rows = [*own]
        if len(rows) >= least:
            yield from _sliding(met, alone, least, ahead)
            alone.clear()
            yield rows[0], inner, len(rows), False
        else:
            alone += rows
    yield from _sliding(met, alone, least, ahead)


def _sliding(met: Sequence[tuple[int, ...]], rows: Sequence[int], least: int, ahead: int) -> Iterator[Run]:
    """Neighbouring rows, at `least` so many together if each meets only the next one; others are single."""

    def place(n: int) -> int | None:
        """How far ahead what a row meets is, from row to row the same."""
        row = rows[n]
        return met[row][0] - row if len(met[row]) == 1 and met[row][0] - row >= ahead else None

    for slides, run in groupby(range(len(rows)), lambda n: (place(n), rows[n] - n)):
        found = [rows[n] for n in run]
        if slides[0] is not None and len(found) >= least:
            yield found[0], met[found[0]], len(found), True
        else:
            yield from ((row, met[row], 1, False) for row in found)


@dataclass(frozen=True, slots=True)
class Spelling:
    """How C spells vectors or numbers: their type, zero, and how these are read and written."""

    type: str
    zero: str
    read: str
    write: str

    def __str__(self) -> str:
        return f"sums of {self.type}"


def lines(
    sums: Sequence[RowSum],
    products: Sequence[MatrixProduct],
    stored: Mapping[str, int],
    spelled: Mapping[int, Spelling],
) -> tuple[str, ...]:
    """The lines of a C function of such products, of matrices with rows of so many numbers (`stored`)."""
    columns, lefts = products[0].port.shape[1], [term.steps(stored[term.left]) for term in products[0].terms]
    found = list[str]()
    for (p, column, t, _, width), rows in groupby(sums, lambda x: (x.product, x.column, x.term, x.share, x.width)):
        words = spelled[width]
        below, (down, along), plus = [*rows], lefts[t], products[p].plus
        right, first = stored[products[p].terms[t].right], below[0]
        found.append(f"for (int j = 0; j < {first.columns}; ++j) {{" if first.columns > 1 else "{")
        for k in sorted({k for own in below if not own.slides for k in own.inner}):
            from_right = words.read.format(f"right{t}_{p}[{k * right + column}{first.beside}]")
            found.append(f"    const {words.type} x{k} = {from_right};")
        for own in below:
            to = f"to{p}[{own.place(columns, column, own.beside)}]"
            before = to if t else f"plus{p}[{own.place(stored[plus], column, own.beside)}]" if own.plus else ""
            terms = [words.read.format(before)] if before else []
            if own.slides:
                (ahead,) = (k - own.row for k in own.inner)
                from_right = words.read.format(f"right{t}_{p}[{own.place(right, ahead * right + column)}]")
                terms.append(f"left{t}[{own.place(down + along, ahead * along)}]*{from_right}")
            else:
                terms += [f"left{t}[{own.place(down, k * along)}]*x{k}" for k in own.inner]
            head = f"for (int row = {own.row}; row < {own.down.stop}; ++row) " if own.rows > 1 else ""
            found.append(f"    {head}{words.write.format(to)} = {' + '.join(terms) or words.zero};")
        found.append("}")
    return tuple(found)
