"""Matrices of blocks, each of them columns of another matrix; loops copy what loops made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from casadi import SX

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Placed:
    """Columns of a matrix, so many from `first` on, which stand from this `row` and `column` of another on.

    If `transposed`, it is their transpose that does. They have all rows, or those from one to the end of `rows`.
    """

    matrix: Any
    row: int
    column: int
    first: int
    columns: int
    transposed: bool = False
    rows: tuple[int, int] | None = None

    def __str__(self) -> str:
        turned = "the transpose of " * self.transposed
        return f"{turned}{self.matrix.shape[0]} x {self.columns} at {self.row}, {self.column}"


@dataclass(frozen=True, slots=True)
class BlockMatrix:
    """Blocks that do not overlap, and zeros elsewhere."""

    shape: tuple[int, int]
    blocks: tuple[Placed, ...]
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{self.shape[0]} x {self.shape[1]} of {', '.join(map(str, self.blocks))}"

    @property
    def factors(self) -> tuple[Any, ...]:
        """The matrices that its blocks are of."""
        return tuple(block.matrix for block in self.blocks)

    def of(self, matrices: Sequence[Any]) -> BlockMatrix:
        """The same of other matrices."""
        blocks = (replace(block, matrix=x) for block, x in zip(self.blocks, matrices, strict=True))
        return replace(self, blocks=tuple(blocks))

    @property
    def entries(self) -> SX:
        """The matrix, entry by entry, of blocks that are there so."""
        made = SX(*self.shape)
        for own in self.blocks:
            assert isinstance(own.matrix, SX)
            start, end = own.rows or (0, own.matrix.shape[0])
            block = own.matrix[start:end, own.first : own.first + own.columns]
            block = block.T if own.transposed else block
            rows, columns = block.shape
            made[own.row : own.row + rows, own.column : own.column + columns] = block
        return made


def beside(*matrices: Any) -> BlockMatrix:
    """Matrices side by side."""
    rows, width = matrices[0].shape[0], sum(x.shape[1] for x in matrices)
    return _joined((rows, width), ((x, 0, sum(y.shape[1] for y in matrices[:k])) for k, x in enumerate(matrices)))


def above(*matrices: Any) -> BlockMatrix:
    """Matrices one above the other."""
    height, columns = sum(x.shape[0] for x in matrices), matrices[0].shape[1]
    return _joined((height, columns), ((x, sum(y.shape[0] for y in matrices[:k]), 0) for k, x in enumerate(matrices)))


def columns_of(matrix: Any, first: int, columns: int) -> BlockMatrix:
    """So many columns of a matrix from one on."""
    found = Placed(matrix, 0, 0, first, columns)
    return BlockMatrix((matrix.shape[0], columns), tuple(_cut(found)))


def _joined(shape: tuple[int, int], placed: Iterator[tuple[Any, int, int]]) -> BlockMatrix:
    whole = (Placed(x, row, column, 0, x.shape[1]) for x, row, column in placed)
    return BlockMatrix(shape, tuple(block for own in whole for block in _cut(own)))


def _cut(own: Placed) -> Iterator[Placed]:
    """A block, or if it is of a matrix of blocks, what it shows of them."""
    if not isinstance(own.matrix, BlockMatrix):
        yield own
        return
    for block in own.matrix.blocks:
        start, end = max(block.column, own.first), min(block.column + block.columns, own.first + own.columns)
        if start < end:
            first, column = block.first + start - block.column, own.column + start - own.first
            assert not block.transposed, "whole blocks are turned"
            assert not block.rows, "and cut"
            yield Placed(block.matrix, own.row + block.row, column, first, end - start)
