"""Square systems of equations as results: C solves large ones by loops, not entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from casadi import SX, Sparsity

from codegen.spatial import eliminated


@dataclass(frozen=True, slots=True)
class Solved:
    """plus + matrix^-1 right, by Gauss's elimination as `codegen.spatial.eliminate` has it."""

    matrix: Any
    right: Any
    plus: Any | None = None
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{self.shape[0]} equations, {self.shape[1]} columns"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        rows, columns = self.right.shape
        return rows, columns

    @property
    def factors(self) -> tuple[Any, ...]:
        """What it takes."""
        return (self.matrix, self.right) if self.plus is None else (self.matrix, self.right, self.plus)

    def of(self, factors: Sequence[Any]) -> Solved:
        """The same of other matrices."""
        matrix, right, *plus = factors
        return replace(self, matrix=matrix, right=right, plus=next(iter(plus), None))

    def entries(self, factors: Sequence[SX]) -> SX:
        """The result, entry by entry."""
        matrix, right, *plus = factors
        return sum(plus, eliminated(matrix, right))


def multiplications(pattern: Sparsity, columns: int) -> int:
    """Of two numbers, to solve with a matrix of a pattern that is symmetric, for so many columns."""
    left = [{c for c in row if c < r} for r, row in enumerate(_rows(pattern))]
    total = 0
    for r in reversed(range(len(left))):
        total += len(left[r]) * (len(left[r]) + 2 * columns + 1) + columns
        for above in left[r]:
            left[above] |= {c for c in left[r] if c < above}
    return total


def _rows(pattern: Sparsity) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(pattern.size1())]
    for row, column in zip(*pattern.get_triplet(), strict=True):
        found[row].append(column)
        found[column].append(row)
    return found
