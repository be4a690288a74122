"""Small linear systems, straight-line: symmetric positive definite ones by A = L D L', and general ones."""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, dot, horzcat, solve, vertcat

from codegen.spatial.axes import cross3


@dataclass(frozen=True, slots=True)
class LDL:
    """The factors of A: unit lower-triangular L (its strict part by rows) and the pivots d."""

    A: SX
    L: tuple[tuple[SX, ...], ...]
    d: tuple[SX, ...]

    @property
    def size(self) -> int:
        """The order n of the system."""
        return len(self.d)

    def half(self, B: SX) -> SX:
        """L^-1 B for a matrix B of n rows."""
        rows: list[SX] = []
        for r, factors in enumerate(self.L):
            row = B[r, :]
            for factor, above in zip(factors, rows, strict=True):
                row = row - factor * above
            rows.append(row)
        return vertcat(*rows)

    def scale(self, B: SX) -> SX:
        """D^-1 B: every row divided by its pivot."""
        return vertcat(*[B[r, :] / pivot for r, pivot in enumerate(self.d)])

    def back(self, B: SX) -> SX:
        """L'^-1 B."""
        rows: dict[int, SX] = {}
        n = len(self.d)
        for r in reversed(range(n)):
            row = B[r, :]
            for below in range(r + 1, n):
                row = row - self.L[below][r] * rows[below]
            rows[r] = row
        return vertcat(*[rows[r] for r in range(n)])

    def solve(self, B: SX) -> SX:
        """A^-1 B for a matrix B of n rows."""
        return self.back(self.scale(self.half(B)))

    def inverse(self) -> SX:
        """A^-1, each entry of the symmetric result computed once."""
        n = len(self.d)
        W = self.half(SX.eye(n))
        V = self.scale(W)
        upper = {(r, c): W[:, r].T @ V[:, c] for r in range(n) for c in range(r, n)}
        return vertcat(*[horzcat(*[upper[min(r, c), max(r, c)] for c in range(n)]) for r in range(n)])


def mirrored(A: SX) -> SX:
    """The symmetric matrix whose upper triangle is A's."""
    B = SX(A)
    for r in range(A.size1()):
        for c in range(r):
            B[r, c] = A[c, r]
    return B


def ldl(A: SX) -> LDL:
    """Factorise a symmetric positive definite matrix (only its lower triangle is read)."""
    n = A.size1()
    L: list[tuple[SX, ...]] = []
    d: list[SX] = []
    for r in range(n):
        scaled: list[SX] = []
        factors: list[SX] = []
        for c in range(r):
            value = A[r, c]
            for m in range(c):
                value = value - scaled[m] * L[c][m]
            scaled.append(value)
            factors.append(value / d[c])
        pivot = A[r, r]
        for value, factor in zip(scaled, factors, strict=True):
            pivot = pivot - value * factor
        L.append(tuple(factors))
        d.append(pivot)
    return LDL(A, tuple(L), tuple(d))


def solve_square(A: SX, B: SX) -> SX:
    """A^-1 B for a general square A; up to order three by cofactors, which no vanishing entry can upset."""
    n = A.size1()
    if n == 1:
        return B / A
    if n == 2:
        (a, b), (c, d) = ((A[r, 0], A[r, 1]) for r in range(2))
        adjugate = vertcat(horzcat(d, -b), horzcat(-c, a))
        return adjugate @ B / (a * d - b * c)
    if n == 3:
        rows = [A[r, :].T for r in range(3)]
        columns = [cross3(rows[(r + 1) % 3], rows[(r + 2) % 3]) for r in range(3)]
        return horzcat(*columns) @ B / dot(rows[0], columns[0])
    return solve(A, B)
