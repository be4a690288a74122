"""Where the nonzeros of a matrix stand: compressed columns, as SciPy's `csc_array` and CasADi take them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, repr=False)
class Pattern:
    """The sparsity pattern of a matrix: of column c, rows `indices[indptr[c]:indptr[c + 1]]`, in rising order.

    `shape` is (rows, columns). Nonzeros stand column by column. `csc_array((values, p.indices, p.indptr), p.shape)` is
    SciPy's matrix of one state.
    """

    shape: tuple[int, int]
    indices: tuple[int, ...]
    indptr: tuple[int, ...]

    @staticmethod
    def of(shape: tuple[int, int], places: Iterable[tuple[int, int]]) -> Pattern:
        """The pattern of these places (row, column)."""
        by_column: list[list[int]] = [[] for _ in range(shape[1])]
        for row, column in sorted(places):
            by_column[column].append(row)
        ends = np.cumsum([0, *map(len, by_column)])
        return Pattern(shape, tuple(row for rows in by_column for row in rows), tuple(map(int, ends)))

    def __repr__(self) -> str:
        return f"<Pattern {self}>"

    def __str__(self) -> str:
        return f"{self.nnz} nonzeros of {self.shape[0]} x {self.shape[1]}"

    @property
    def nnz(self) -> int:
        """How many nonzeros there are."""
        return len(self.indices)

    @property
    def columns(self) -> tuple[int, ...]:
        """The column of every nonzero."""
        return tuple(c for c, ends in enumerate(pairwise(self.indptr)) for _ in range(*ends))

    def dense(self, values: ArrayLike) -> NDArray[Any]:
        """The matrix (batch, rows, columns) of these nonzeros (batch, nnz); ValueError for another number of them."""
        given = np.asarray(values)
        if given.shape[-1:] != (self.nnz,):
            raise ValueError(f"the pattern has {self}; give values of shape (..., {self.nnz}), not {given.shape}")
        whole = np.zeros((*given.shape[:-1], *self.shape), given.dtype)
        whole[..., list(self.indices), list(self.columns)] = given
        return whole
