"""Small products of matrices as straight-line code: a small vector, or a number, of a result after the other.

Loops over tiles multiply the zeros that fill up a tile, and read two numbers for a product. Here every vector is the
sum of what its own row meets, and columns of the right factor stay in registers while all rows of a result are made.
Further terms are added where the first one is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.products import VECTOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.ir.products import MatrixProduct

    Pattern = NDArray[np.bool_]

MOST = {2 * VECTOR: 1600, VECTOR: 1600, 1: 1500}
"""Products up to which straight-line code is faster than loops, which are fetched once: of vectors, and of numbers.

On an AMD EPYC (Zen 4) 2,500 of vectors took 0.6 times as long as loops, called again and again. In derivatives of
quadrupeds on four feet, which are longer than the first cache, loops for 1,700 saved 1 to 6 percent (Zen 3).
"""


@dataclass(frozen=True, slots=True)
class RowSum:
    """A vector or a number of a term of a product, at a row and a column; `inner` rows of a right factor make it."""

    product: int
    term: int
    row: int
    column: int
    inner: tuple[int, ...]

    def __str__(self) -> str:
        return f"row {self.row} from column {self.column}: {len(self.inner)} products"


def row_sums(products: Sequence[MatrixProduct], known: Mapping[str, Pattern], width: int) -> tuple[RowSum, ...]:
    """The vectors of so many numbers of products of one left factor, by columns; none if they take too much."""
    found = tuple(own for number, product in enumerate(products) for own in _sums(number, product, known, width))
    return found if sum(len(own.inner) for own in found) <= MOST[width] else ()


def _sums(number: int, product: MatrixProduct, known: Mapping[str, Pattern], width: int) -> Iterator[RowSum]:
    """Those of one product: zeros, and then the columns between the first and the last that may differ from zero."""
    factors = [term.factors(known, product.port.shape) for term in product.terms]
    pattern = product.pattern(known)
    rows, columns = pattern.shape
    used = np.flatnonzero(pattern.any(axis=0))
    first, end = (int(used[0]), int(used[-1]) + 1) if len(used) else (columns, columns)
    for start, stop in ((0, first), (end, columns), (first, end)):
        for column in (min(at, columns - width) for at in range(start, stop, width)):
            for term, (left, right) in enumerate(factors):
                own = right[:, column : column + width].any(axis=1) & (start == first)
                for row in range(min(rows, column + width) if product.symmetric else rows):
                    inner = tuple(np.flatnonzero(left[row] & own).tolist())
                    if inner or not term:
                        yield RowSum(number, term, row, column, inner)


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
    sums: Sequence[RowSum], products: Sequence[MatrixProduct], stored: Mapping[str, int], words: Spelling
) -> tuple[str, ...]:
    """The lines of a C function of such products, of matrices with rows of so many numbers (`stored`)."""
    columns, lefts = products[0].port.shape[1], [term.steps(stored[term.left]) for term in products[0].terms]
    found, loaded, place = list[str](), set[int](), (-1, -1, -1)
    for own in sums:
        p, t, (down, along) = own.product, own.term, lefts[own.term]
        if (p, own.column, t) != place:
            found += ["}"] * bool(found) + ["{"]
            loaded, place = set[int](), (p, own.column, t)
        for k in own.inner:
            if k not in loaded:
                loaded.add(k)
                row = k * stored[products[p].terms[t].right]
                from_right = f"right{t}_{p}[{row + own.column}]"
                found.append(f"    const {words.type} x{k} = {words.read.format(from_right)};")
        at = own.row * columns + own.column
        before = f"to{p}[{at}]" if t else ""
        if not t and products[p].plus:
            before = f"plus{p}[{own.row * stored[products[p].plus] + own.column}]"
        terms = [words.read.format(before)] if before else []
        terms += [f"left{t}[{own.row * down + k * along}]*x{k}" for k in own.inner]
        found.append(f"    {words.write.format(f'to{p}[{at}]')} = {' + '.join(terms) or words.zero};")
    return (*found, "}")
