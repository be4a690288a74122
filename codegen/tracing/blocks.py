"""Matrices of derivatives by blocks, which are matrices or products of such, and where these have entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import SX, Sparsity, horzcat, project, vertcat

from codegen.recursions.block_matrix import BlockMatrix, Placed
from codegen.recursions.expansion import entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.recursions.products import Result


@dataclass(frozen=True, slots=True)
class Block:
    """A matrix, or the transpose of it if `transposed`, that vanishes but for the `entries` of a pattern."""

    matrix: Result
    entries: Sparsity
    transposed: bool = False

    def __str__(self) -> str:
        return f"{self.entries.nnz()} entries of {self.entries.size1()} x {self.entries.size2()}"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.entries.shape
        return rows, columns

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


def joined(blocks: Blocks, rows: Mapping[str, SX], columns: Mapping[str, SX]) -> SX:
    """The matrix of all blocks, entry by entry."""
    known = dict(zip(blocks, unrolled(blocks.values()), strict=True))
    return vertcat(*[horzcat(*[known[row, x] for x in columns]) for row in rows])


def gradients(blocks: Blocks, rows: Sequence[str], columns: Sequence[str]) -> Block:
    """The transpose of the matrix of these blocks, in this order: by columns the gradients of its rows, with zeros."""
    tops = [0, *accumulate(blocks[row, columns[0]].shape[0] for row in rows)]
    lefts = [0, *accumulate(blocks[rows[0], x].shape[1] for x in columns)]
    placed = (
        Placed(own.matrix, top, left, 0, own.matrix.shape[1], own.transposed)
        for row, top in zip(rows, tops, strict=False)
        for own, left in zip([blocks[row, x] for x in columns], lefts, strict=False)
    )
    matrix = BlockMatrix((tops[-1], lefts[-1]), tuple(placed))
    return Block(matrix, Sparsity.dense(*reversed(matrix.shape)), transposed=True)


def unrolled(blocks: Iterable[Block]) -> list[SX]:
    """The matrices that blocks are, entry by entry."""
    own = [*blocks]
    matrices = zip(own, entries(tuple(block.matrix for block in own)), strict=True)
    return [project(x.T if block.transposed else x, block.entries) for block, x in matrices]
