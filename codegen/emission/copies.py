"""Matrices of blocks as loops that copy these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codegen.ir.block_matrix import CopiedMatrix


@dataclass(frozen=True, slots=True)
class Copies:
    """The loops of one matrix, whose blocks are of matrices of these shapes."""

    product: CopiedMatrix
    shapes: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        return str(self.product)

    @property
    def products(self) -> tuple[CopiedMatrix, ...]:
        """What they make."""
        return (self.product,)

    @property
    def taken(self) -> dict[str, str]:
        """The ports that they read, by the names of their arguments."""
        return {name: port for port, name in self._names.items()}

    @property
    def _names(self) -> dict[str, str]:
        """The names of their arguments by ports, each once."""
        return {port: f"x{k}" for k, port in enumerate(dict.fromkeys(self.product.takes))}

    def reads(self) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
        """What they read of matrices."""
        for block, shape in zip(self.product.blocks, self.shapes, strict=True):
            yield block.source, block.rows_of(shape[0]), range(block.first, block.first + block.columns)

    def lines(self, zero: str) -> tuple[str, ...]:
        """The lines of their C function, with what C calls zero."""
        width, names = self.product.port.shape[1], self._names
        pairs = zip(self.product.blocks, self.shapes, strict=True)
        covered = sum(len(own.rows_of(shape[0])) * own.columns for own, shape in pairs)
        empty = self.product.port.size > covered
        lines = [f"for (int k = 0; k < {self.product.port.size}; ++k) to0[k] = {zero};"] * empty
        for own, (height, columns) in zip(self.product.blocks, self.shapes, strict=True):
            rows = own.rows_of(height)
            row, column = ("j", "i") if own.transposed else ("i", "j")
            to = f"to0[({row} + {own.row})*{width} + {column} + {own.column}]"
            lines.append(f"for (int i = 0; i < {len(rows)}; ++i)")
            place = f"i*{columns} + j + {rows.start * columns + own.first}"
            lines.append(f"    for (int j = 0; j < {own.columns}; ++j) {to} = {names[own.source]}[{place}];")
        return tuple(lines)
