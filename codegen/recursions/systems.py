"""Square systems of equations as results, and factors of symmetric ones: C solves large ones by loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from casadi import SX, Sparsity, fabs

from codegen.spatial import divisor, eliminated
from codegen.spatial.solve import VANISHING


@dataclass(frozen=True, slots=True)
class Solved:
    """plus + matrix^-1 right, by Gauss's elimination as `codegen.spatial.eliminate` has it.

    With a `size` (1 x 1), pivots of at most this part of it, of either sign, leave their directions out, as
    `codegen.spatial.divisor` has it.
    """

    matrix: Any
    right: Any
    plus: Any | None = None
    size: Any | None = None
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
        return self.matrix, self.right, *(x for x in (self.plus, self.size) if x is not None)

    def of(self, factors: Sequence[Any]) -> Solved:
        """The same of other matrices."""
        matrix, right, *others = factors
        plus = None if self.plus is None else others[0]
        return replace(self, matrix=matrix, right=right, plus=plus, size=None if self.size is None else others[-1])

    def entries(self, factors: Sequence[SX]) -> SX:
        """The result, entry by entry."""
        own = self.of(factors)
        least = None if own.size is None else VANISHING * own.size
        solved = eliminated(own.matrix, own.right, None if least is None else lambda d: divisor(d, fabs(d), least))
        return solved if own.plus is None else own.plus + solved


Way = Literal["forward", "scale", "backward"]


@dataclass(frozen=True, slots=True)
class Factored:
    """The factors of a symmetric matrix A = L D L', from the first row to the last.

    With a `part`, pivots of less than this part of a `size` (1 x 1; the trace, if it is None) leave their rows out, as
    `codegen.spatial.semidefinite_ldl` has it.
    """

    matrix: Any
    part: float = 0.0
    size: Any | None = None
    symmetric: bool = False

    def __str__(self) -> str:
        return f"factors of {self.shape[0]} rows"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.matrix.shape
        return rows, columns

    @property
    def factors(self) -> tuple[Any, ...]:
        """What it takes."""
        return (self.matrix,) if self.size is None else (self.matrix, self.size)

    def of(self, factors: Sequence[Any]) -> Factored:
        """The same of other matrices."""
        matrix, *size = factors
        return replace(self, matrix=matrix, size=next(iter(size), None))


@dataclass(frozen=True, slots=True)
class Substituted:
    """L^-1 B, D^-1 B or L'^-1 B of the factors of a matrix; of 1 if B is None. D^-1 B may be `negative`."""

    factored: Any
    right: Any | None
    way: Way
    negative: bool = False
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{self.way} substitution of {self.shape[1]} columns"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        rows, columns = self.factored.shape if self.right is None else self.right.shape
        return rows, columns

    @property
    def factors(self) -> tuple[Any, ...]:
        """What it takes."""
        return (self.factored,) if self.right is None else (self.factored, self.right)

    def of(self, factors: Sequence[Any]) -> Substituted:
        """The same of other matrices."""
        factored, *right = factors
        return replace(self, factored=factored, right=next(iter(right), None))


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
