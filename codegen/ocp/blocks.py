"""Blocks of numbers of nodes in one sparse matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.ocp.peers import peer

if TYPE_CHECKING:
    import casadi
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Pattern:
    """Places of numbers: a row and a column of each, and a negative one where the number is not kept."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    def __str__(self) -> str:
        return f"{self.rows.size} places"

    @classmethod
    def repeated(cls, sparsity: casadi.Sparsity, times: int, down: int, right: int, first: int = 0) -> Pattern:
        """Blocks of one sparsity, each `down` rows and `right` columns after the one before; `first` is the first."""
        rows, columns = (np.array(part, dtype=np.int64) for part in sparsity.get_triplet())
        number = np.arange(first, first + times)[:, None]
        return cls((rows + down * number).ravel(), (columns + right * number).ravel())

    def moved(self, rows: int, columns: int) -> Pattern:
        """All places, so many rows down and columns to the right."""
        return Pattern(self.rows + rows, self.columns + columns)


class Blocks:
    """A sparse matrix of constant pattern, filled with numbers at the places of `patterns`, one after the other.

    Numbers at the same place are added; those outside the matrix are left out.
    """

    __slots__ = ("_inside", "_matrix", "_where")

    def __init__(self, shape: tuple[int, int], *patterns: Pattern) -> None:
        rows, columns = (np.concatenate([getattr(p, name) for p in patterns]) for name in ("rows", "columns"))
        self._inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
        places, where = np.unique(columns[self._inside] * shape[0] + rows[self._inside], return_inverse=True)
        starts = np.searchsorted(places, np.arange(shape[1] + 1) * shape[0])
        empty = (np.zeros(places.size), places % shape[0], starts)
        self._where, self._matrix = where, peer("scipy.sparse").csc_matrix(empty, shape=shape)

    def __repr__(self) -> str:
        return f"Blocks({self._matrix.nnz} of {self._matrix.shape})"

    def filled(self, *numbers: NDArray[np.float64]) -> Any:
        """The matrix (csc_matrix, the same object in every call)."""
        data = np.concatenate([part.ravel() for part in numbers])[self._inside]
        self._matrix.data[:] = np.bincount(self._where, data, self._matrix.nnz)
        return self._matrix
