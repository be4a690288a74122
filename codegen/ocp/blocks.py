"""Numbers between CasADi and sparse solvers: a function of all nodes at once, and its nonzeros in one matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.errors import RobotError
from codegen.ocp.peers import peer

if TYPE_CHECKING:
    from collections.abc import Mapping

    import casadi
    from numpy.typing import ArrayLike, NDArray


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


class Evaluated:
    """A function of CasADi's at several nodes in one call, over arrays of all nodes."""

    __slots__ = ("_buffer", "_function", "_inputs", "_numbers", "_results", "_run")

    def __init__(self, function: casadi.Function, nodes: int) -> None:
        self._function = mapped = function.map(nodes) if nodes > 1 else function
        self._buffer: Any
        self._buffer, self._run = mapped.buffer()
        ends = np.cumsum([0, *(nodes * function.nnz_in(key) for key in function.name_in())])
        self._numbers = np.zeros(ends[-1])
        parts = np.split(self._numbers, ends[1:-1])
        self._inputs = {key: x.reshape(nodes, -1) for key, x in zip(function.name_in(), parts, strict=False)}
        self._results = {key: np.zeros((nodes, function.nnz_out(key))) for key in function.name_out()}
        for number, x in enumerate(self._inputs.values()):
            self._buffer.set_arg(number, x.reshape(-1).data)
        for number, y in enumerate(self._results.values()):
            self._buffer.set_res(number, y.reshape(-1).data)

    def __repr__(self) -> str:
        return f"Evaluated({self._function})"

    def __call__(self, given: Mapping[str, ArrayLike]) -> dict[str, NDArray[np.float64]]:
        """Nonzeros of results by name (nodes x nonzeros, the same arrays in every call); RobotError for bad numbers."""
        if given.keys() != self._inputs.keys():
            raise RobotError(f"give numbers for {', '.join(self._inputs)}, not for {', '.join(given) or 'nothing'}")
        for name, x in self._inputs.items():
            numbers = np.asarray(given[name], dtype=np.float64)
            if numbers.shape != x.shape:
                raise self._unfit(name)
            x[:] = numbers
        if not np.isfinite(self._numbers).all():
            raise self._unfit(next(name for name, x in self._inputs.items() if not np.isfinite(x).all()))
        self._run()
        return self._results

    def _unfit(self, name: str) -> RobotError:
        nodes, size = self._inputs[name].shape
        return RobotError(f"{name}: {nodes} x {size} finite numbers are needed, one row for each node")
