"""Products of matrices with a column: a loop over rows, by vectors where a row lies in memory as it is multiplied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.emission.text import render
from codegen.ir.products import VECTOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codegen.emission.masked_tiles import Read
    from codegen.ir.products import MatrixProduct

SUMS = {
    2 * VECTOR: "((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]))",
    VECTOR: "(v[0] + v[1]) + (v[2] + v[3])",
}
"""Of the numbers of a vector of so many."""


@dataclass(frozen=True, slots=True)
class ColumnProduct:
    """The loop of one product; matrices that it takes have rows of so many numbers (`stored`), by names of ports.

    Right factors of its terms have so many rows (`inner`).
    """

    product: MatrixProduct
    stored: Mapping[str, int]
    inner: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.product}, row by row"

    @property
    def products(self) -> tuple[MatrixProduct, ...]:
        """What it makes."""
        return (self.product,)

    def reads(self) -> Iterator[Read]:
        """What it reads of matrices."""
        rows = range(self.product.port.shape[0])
        for term, end in zip(self.product.terms, self.inner, strict=True):
            yield term.left, *((range(end), rows) if term.transposed else (rows, range(end)))
            yield term.right, range(end), (0,)
        if self.product.plus:
            yield self.product.plus, rows, (0,)

    def lines(self, real: str, zero: str, vectors: Sequence[tuple[str, int]] = ()) -> tuple[str, ...]:
        """The lines of its C function, with what C calls zero; `vectors` are conditions of C, and sizes."""
        own, terms = self.product, list[tuple[object, ...]]()
        for number, (term, end) in enumerate(zip(own.terms, self.inner, strict=True)):
            (down, along), below = term.steps(self.stored[term.left]), self.stored[term.right]
            ways = [
                (f"{'el' if n else ''}if {condition}", f"P{size}", size, SUMS[size])
                for n, (condition, size) in enumerate(vectors if along == below == 1 else ())
            ]
            places = ["k" if step == 1 else f"k*{step}" for step in (along, below)]
            terms.append((f"left{number} + i*{down}", f"right{number}_0", end, places, ways))
        start = f"plus0[i*{self.stored[own.plus]}]" if own.plus else zero
        text = render("product_column.jinja", real=real, rows=own.port.shape[0], start=start, terms=terms)
        return tuple(line for line in text.splitlines() if line)
