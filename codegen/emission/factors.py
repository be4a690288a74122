"""Factors of symmetric matrices, and what is solved by them, as loops over rows and tiles of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.emission.text import render
from codegen.ir.factors import FactoredMatrix, Substitution
from codegen.ir.products import TILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Pattern = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LoopWords:
    """How C spells what loops over rows are made of: the type of a number in all lanes and in one, and how many these
    are; so many columns `across` at a time, their type, how they are read and written; one and zero.
    """

    real: str
    single: str
    lanes: str
    across: str
    type: str
    read: str
    write: str
    one: str
    zero: str

    def __str__(self) -> str:
        return f"loops over columns of {self.type}"


def words_of(prefix: str) -> LoopWords:
    """The words of the functions of a kernel whose names have this prefix."""
    upper = prefix.upper()
    return LoopWords(
        "T",
        "R",
        lanes=f"{upper}_WIDTH",
        across=f"{upper}_ACROSS8",
        type="COLUMNS8",
        read=f"{upper}_READ8",
        write=f"{upper}_WRITE8",
        one="ALL(1.0)",
        zero="ALL(0.0)",
    )


def scalar_words(real: str) -> LoopWords:
    """The words of portable C on this type."""
    return LoopWords(real, real, "1", "1", real, "", "", f"({real})1", f"({real})0")


@dataclass(frozen=True, slots=True)
class Factorisation:
    """The loops that make the factors of one matrix."""

    product: FactoredMatrix

    def __str__(self) -> str:
        return str(self.product)

    @property
    def products(self) -> tuple[FactoredMatrix, ...]:
        """What they make."""
        return (self.product,)

    @property
    def taken(self) -> dict[str, str]:
        """The ports that they read, by the names of their arguments."""
        return dict(zip(("matrix", "from"), self.product.takes, strict=False))

    @property
    def made(self) -> dict[str, str]:
        """The ports that they write, by the names of their arguments."""
        return dict(zip(("to", "status"), (port.name for port in self.product.ports), strict=False))

    def reads(self) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
        """What they read of matrices."""
        rows = range(self.product.port.shape[0])
        yield self.product.matrix, rows, rows
        if self.product.vanishing and self.product.vanishing.size:
            yield self.product.vanishing.size, [0], [0]

    def lines(self, word: LoopWords) -> tuple[str, ...]:
        """The lines of their C function in these words."""
        vanishing, rows = self.product.vanishing, self.product.port.shape[0]
        part, huge = (vanishing.part, vanishing.huge) if vanishing else (0.0, 0.0)
        sized = bool(vanishing and vanishing.size)
        text = render("factors.jinja", word=word, rows=rows, part=part, huge=huge, sized=sized)
        return tuple(line for line in text.splitlines() if line)


@dataclass(frozen=True, slots=True)
class Substitutions:
    """The loops of one substitution; `tiles` are the columns at which tiles begin, and the first rows with numbers."""

    product: Substitution
    tiles: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        return str(self.product)

    @property
    def products(self) -> tuple[Substitution, ...]:
        """What they make."""
        return (self.product,)

    @property
    def taken(self) -> dict[str, str]:
        """The ports that they read, by the names of their arguments."""
        return dict(zip(("factors", "right"), self.product.takes, strict=False))

    @property
    def made(self) -> dict[str, str]:
        """The ports that they write, by the names of their arguments."""
        return {"to": self.product.port.name}

    def reads(self) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
        """What they read of matrices."""
        rows, columns = (range(size) for size in self.product.port.shape)
        yield self.product.factors, rows, rows
        if self.product.right:
            yield self.product.right, rows, columns

    def lines(self, word: LoopWords) -> tuple[str, ...]:
        """The lines of their C function in these words."""
        rows, columns = self.product.port.shape
        text = render(
            "substitution.jinja",
            word=word,
            rows=rows,
            columns=columns,
            way=self.product.way,
            negative=self.product.negative,
            identity=not self.product.right,
            across=min(TILE, columns),
            tiles=self.tiles,
        )
        return tuple(line for line in text.splitlines() if line)


def substitutions(product: Substitution, known: Mapping[str, Pattern]) -> Substitutions:
    """The loops of a substitution in matrices of these patterns."""
    given, columns = product.given(known), product.port.shape[1]
    across = min(TILE, columns)
    starts = (min(start, columns - across) for start in range(0, columns, across))
    return Substitutions(product, tuple((at, _first(given[:, at : at + across], product)) for at in starts))


def _first(given: Pattern, product: Substitution) -> int:
    """The first row with a number; of substitutions that go up, the first."""
    some = np.flatnonzero(given.any(axis=1))
    return int(some[0]) if product.way == "forward" and len(some) else 0
