"""Matrices of derivatives by blocks, which are matrices or products of such, and where these have entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import DM, SX, Sparsity, horzcat, project, vertcat

from codegen.recursions.block_matrix import BlockMatrix, Placed
from codegen.recursions.expansion import entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.recursions.products import Result


@dataclass(frozen=True, slots=True)
class Block:
    """A matrix, or the transpose of it if `transposed`, that vanishes but for the `entries` of a pattern.

    It may be a part of the matrix, which begins there at `row` and `column`.
    """

    matrix: Result
    entries: Sparsity
    transposed: bool = False
    row: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.entries.nnz()} entries of {self.entries.size1()} x {self.entries.size2()}"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.entries.shape
        return rows, columns

    @property
    def places(self) -> tuple[slice, slice]:
        """The rows and columns of the matrix."""
        rows, columns = reversed(self.shape) if self.transposed else self.shape
        return slice(self.row, self.row + rows), slice(self.column, self.column + columns)

    @property
    def whole(self) -> bool:
        """Whether it is all of the matrix."""
        return self.places == tuple(slice(0, size) for size in self.matrix.shape)

    def placed(self, row: int, column: int) -> Placed:
        """It at this row and column of a matrix of blocks."""
        rows, columns = self.places
        cut = None if self.matrix.shape[0] == rows.stop - rows.start else (rows.start, rows.stop)
        return Placed(self.matrix, row, column, columns.start, columns.stop - columns.start, self.transposed, cut)

    @property
    def T(self) -> Block:
        """The transpose."""
        return replace(self, entries=self.entries.T, transposed=not self.transposed)


Blocks = dict[tuple[str, str], Block]
"""Derivatives by names of output and input, or of two inputs."""


def plain(matrix: SX) -> Block:
    """A block of the entries that a matrix has."""
    return Block(matrix, matrix.sparsity())


def whole(matrix: Result) -> Block:
    """A block of all entries of a matrix."""
    return Block(matrix, Sparsity.dense(*matrix.shape))


def vanishes(matrix: Result) -> bool:
    """Whether a matrix has no entries."""
    return isinstance(matrix, SX) and not matrix.nnz()


def plain_of(matrix: Result) -> SX:
    """A matrix that is known to be none of products."""
    assert isinstance(matrix, SX), "it is plain"
    return matrix


def spans(parts: Mapping[str, SX]) -> dict[str, slice]:
    """Where the elements of these parts are in the column of all."""
    ends = accumulate(part.numel() for part in parts.values())
    return {name: slice(end - part.numel(), end) for (name, part), end in zip(parts.items(), ends, strict=True)}


def split(matrix: SX, rows: Mapping[str, SX], columns: Mapping[str, SX]) -> Blocks:
    """The blocks of a matrix whose rows and columns belong to the elements of these."""
    across = spans(columns)
    return {(row, x): plain(matrix[at, own]) for row, at in spans(rows).items() for x, own in across.items()}


def divided(matrix: Result, rows: Mapping[str, SX], columns: Mapping[str, SX]) -> Blocks:
    """The same of a result, of which all entries may differ from zero."""
    if isinstance(matrix, SX):
        return split(matrix, rows, columns)
    heights, widths = spans(rows), spans(columns)
    return {
        (row, x): replace(whole(matrix), entries=_dense(at, own), row=at.start, column=own.start)
        for row, at in heights.items()
        for x, own in widths.items()
    }


def _dense(rows: slice, columns: slice) -> Sparsity:
    return Sparsity.dense(rows.stop - rows.start, columns.stop - columns.start)


def patterned(blocks: Blocks, pattern: Sparsity, rows: Mapping[str, SX], columns: Mapping[str, SX]) -> Blocks:
    """Blocks with the entries of a matrix of them all."""
    entries = split(SX(DM(pattern, 1)), rows, columns)
    return {pair: replace(block, entries=entries[pair].entries) for pair, block in blocks.items()}


def joined(blocks: Blocks, rows: Mapping[str, SX], columns: Mapping[str, SX]) -> SX:
    """The matrix of all blocks, entry by entry."""
    known = dict(zip(blocks, unrolled(blocks.values()), strict=True))
    return vertcat(*[horzcat(*[known[row, x] for x in columns]) for row in rows])


def gradients(blocks: Blocks, rows: Sequence[str], columns: Sequence[str]) -> Block:
    """The transpose of the matrix of these blocks, in this order: by columns the gradients of its rows, with zeros."""
    tops = [0, *accumulate(blocks[row, columns[0]].shape[0] for row in rows)]
    lefts = [0, *accumulate(blocks[rows[0], x].shape[1] for x in columns)]
    placed = (
        own.placed(top, left)
        for row, top in zip(rows, tops, strict=False)
        for own, left in zip([blocks[row, x] for x in columns], lefts, strict=False)
    )
    matrix = BlockMatrix((tops[-1], lefts[-1]), tuple(placed))
    return Block(matrix, Sparsity.dense(*reversed(matrix.shape)), transposed=True)


def unrolled(blocks: Iterable[Block]) -> list[SX]:
    """The matrices that blocks are, entry by entry."""
    own = [*blocks]
    matrices = [
        (block, x[block.places]) for block, x in zip(own, entries(tuple(block.matrix for block in own)), strict=True)
    ]
    return [project(x.T if block.transposed else x, block.entries) for block, x in matrices]
