"""Matrices that loops copy together of columns of others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.ir.graph import Port

    Pattern = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CopiedBlock:
    """The matrix of a port's name, so many of its columns from `first` on, at this row and column of another.

    If `transposed`, it is their transpose that is there. They have all rows, or those from one to the end of `rows`.
    """

    source: str
    row: int
    column: int
    first: int
    columns: int
    transposed: bool = False
    rows: tuple[int, int] | None = None

    def __str__(self) -> str:
        turned, rows = ".T" * self.transposed, "{}:{}".format(*self.rows) if self.rows else ":"
        return f"{self.source}[{rows}, {self.first}:{self.first + self.columns}]{turned} at {self.row}, {self.column}"

    def rows_of(self, height: int) -> range:
        """Its rows, of a matrix of this height."""
        return range(*(self.rows or (0, height)))


@dataclass(frozen=True, slots=True)
class CopiedMatrix:
    """port = blocks, each a copy; zero elsewhere."""

    port: Port
    blocks: tuple[CopiedBlock, ...]
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{self.port} = {', '.join(map(str, self.blocks))}"

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of what it takes."""
        return tuple(block.source for block in self.blocks)

    def renamed(self, now: Callable[[str], str]) -> CopiedMatrix:
        """The same with other names of ports."""
        blocks = tuple(replace(block, source=now(block.source)) for block in self.blocks)
        return replace(self, port=replace(self.port, name=now(self.port.name)), blocks=blocks)

    def pattern(self, known: Mapping[str, Pattern]) -> Pattern:
        """Where it may differ from zero."""
        found = np.zeros(self.port.shape, bool)
        self._copy(found, known)
        return found

    def entries(
        self, zero: int, known: Mapping[str, Sequence[int]], shapes: Mapping[str, tuple[int, ...]]
    ) -> list[int]:
        """Row by row the values of its entries."""
        found = np.full(self.port.shape, zero)
        self._copy(found, {name: np.reshape(known[name], shapes[name]) for name in self.takes})
        entries: list[int] = found.ravel().tolist()
        return entries

    def _copy(self, to: NDArray[np.generic], known: Mapping[str, NDArray[np.generic]]) -> None:
        for own in self.blocks:
            rows = own.rows_of(known[own.source].shape[0])
            block = known[own.source][rows, own.first : own.first + own.columns]
            block = block.T if own.transposed else block
            rows, columns = block.shape
            to[own.row : own.row + rows, own.column : own.column + columns] = block
