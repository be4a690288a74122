"""Small linear systems, straight-line: symmetric positive definite ones by A = L D L', and general ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TypeVar

from casadi import SX, copysign, dot, fabs, fmax, horzcat, sqrt, sumsqr, trace, triu, vertcat

from codegen.spatial.axes import cross3

Key = TypeVar("Key", bound=Hashable)
NOTHING = 1e-30  # a vector whose square is less is not reflected: its reflection would be that of rounding
VANISHING = 1e-12  # pivots and determinants of less than this part of what they are made from are rounding


HUGE = 1e30  # what a vanishing divisor becomes: it leaves its direction out; `codegen.tracing.status` counts them


def divisor(d: SX, size: SX, least: SX | float) -> SX:
    """d, but huge where its `size` is at most `least`."""
    return d + HUGE * (size <= least)


def flagged(x: SX, test: SX) -> SX:
    """x > 0 as it is, the larger beside 0 or -HUGE; the status of all results that depend on it counts the test."""
    return fmax(x, -(HUGE * test))


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

    @property
    def lower(self) -> SX:
        """L (n x n)."""
        L = SX.eye(self.size)
        for r, factors in enumerate(self.L):
            for c, factor in enumerate(factors):
                L[r, c] = factor
        return L

    def forward(self, B: SX) -> SX:
        """L^-1 B for a matrix B of n rows: the first that is no zero, multiples of it while B has zeros, the rest."""
        lead, rows = leading(B), list[SX]()
        multiple = self._multiples(lead)
        for r, factors in enumerate(self.L):
            row = B[r, :]
            for i, factor in enumerate(factors):
                if i == lead.start:
                    row = row - sum((factors[n] * multiple[n] for n in lead if n < r), SX(0)) * rows[i]
                elif i not in lead:
                    row = row - factor * rows[i]
            rows.append(multiple[r] * rows[lead.start] if r in lead[1:] else row)
        return vertcat(B[:0, :], *rows)

    def _multiples(self, lead: range) -> dict[int, SX]:
        """Rows `lead` of L^-1 B as multiples of the first of them, where B has entries in none of the others."""
        found = dict[int, SX]()
        for r in lead:
            found[r] = -sum((self.L[r][n] * found[n] for n in found), SX(0)) if found else SX(1)
        return found

    def products(self, y: Mapping[Key, SX]) -> dict[tuple[Key, Key], SX]:
        """y_a' A^-1 y_b of every a and each b that does not come before it.

        Rows of L^-1 y that are multiples of one of them count with it where they are the same multiples for a and b.
        """
        half = {a: self.forward(B) for a, B in y.items()}
        lead = {a: leading(B) for a, B in y.items()}
        found = {}
        for n, (b, x) in enumerate(half.items()):
            own, multiple, scaled = lead[b], self._multiples(lead[b]), self.scale(x)
            merged, rows = SX(scaled), [r for r in range(self.size) if r not in own[1:]]
            if len(own) > 1:
                weight = sum((multiple[r] * (multiple[r] / self.d[r]) for r in own), SX(0))
                merged[own.start, :] = weight * x[own.start, :]
            for a in list(half)[: n + 1]:
                found[a, b] = half[a][rows, :].T @ merged[rows, :] if lead[a] == own else half[a].T @ scaled
        return found

    def scale(self, B: SX) -> SX:
        """D^-1 B: every row divided by its pivot."""
        return vertcat(B[:0, :], *[B[r, :] / pivot for r, pivot in enumerate(self.d)])

    def backward(self, B: SX) -> SX:
        """L'^-1 B."""
        rows: dict[int, SX] = {}
        n = len(self.d)
        for r in reversed(range(n)):
            row = B[r, :]
            for below in range(r + 1, n):
                row = row - self.L[below][r] * rows[below]
            rows[r] = row
        return vertcat(B[:0, :], *[rows[r] for r in range(n)])

    def solve(self, B: SX) -> SX:
        """A^-1 B for a matrix B of n rows."""
        return self.backward(self.scale(self.forward(B)))

    def inverse(self) -> SX:
        """A^-1, each entry of the symmetric result computed once."""
        W = self.forward(SX.eye(self.size))
        return mirrored(W.T @ self.scale(W))


def leading(B: SX) -> range:
    """The first row of B with entries, and those after it that have none."""
    empty = [B[r, :].is_zero() for r in range(B.size1())]
    first = next((r for r, none in enumerate(empty) if not none), B.size1())
    end = next((r for r in range(first + 1, B.size1()) if not empty[r]), B.size1())
    return range(first, end)


def mirrored(A: SX) -> SX:
    """The symmetric matrix whose upper triangle is A's."""
    return triu(A) + triu(A, False).T


def ldl(A: SX, least: float = 0.0) -> LDL:
    """Factorise a symmetric positive definite matrix (only its lower triangle is read).

    With `least`, a pivot below it (a singular direction) becomes that.
    """
    return _factors(A, lambda d: fmax(d, least) if least else d)


def semidefinite_ldl(A: SX, size: SX | None = None, part: float = VANISHING) -> LDL:
    """Factorise a symmetric matrix that is positive definite unless rows depend on each other; those are left out.

    Solutions then have a zero for every row that depends on those above it, and the result's status tells. `size` is
    what pivots vanish beside, the trace unless A is what other eliminations left; of it, they are less than a `part`.
    """
    least = part * (trace(A) if size is None else size)
    return _factors(A, lambda d: divisor(d, d, least))


def _factors(A: SX, pivot: Callable[[SX], SX]) -> LDL:
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
        left = A[r, r]
        for value, factor in zip(scaled, factors, strict=True):
            left = left - value * factor
        L.append(tuple(factors))
        d.append(pivot(left))
    return LDL(A, tuple(L), tuple(d))


@dataclass(frozen=True, slots=True)
class Reflection:
    """A Householder reflection of some rows: 1 - factor w w', of two rows as the matrix H that it is."""

    rows: tuple[int, ...]
    w: SX
    factor: SX
    H: SX

    def of(self, B: SX) -> SX:
        """B with its rows reflected."""
        B, own = SX(B), list(self.rows)
        if len(own) == 2:
            B[own, :] = self.H @ B[own, :]
        elif len(own) > 2:
            B[own, :] -= (self.factor * self.w) @ (self.w.T @ B[own, :])
        return B


@dataclass(frozen=True, slots=True)
class Reflections:
    """An orthogonal Q, step by step: reflections, and exchanges of rows where there is nothing to reflect.

    For each step the place of the row that it makes, and the reflection.
    """

    steps: tuple[tuple[int, Reflection], ...]

    def rows(self, B: SX) -> SX:
        """Q B."""
        for place, step in self.steps:
            B = _exchanged(step.of(B), place, step.rows[0])
        return B

    def back(self, B: SX) -> SX:
        """Q' B."""
        for place, step in reversed(self.steps):
            B = step.of(_exchanged(B, place, step.rows[0]))
        return B

    def columns(self, B: SX) -> SX:
        """B Q'."""
        return self.rows(B.T).T if self.steps else B


def _exchanged(B: SX, r: int, s: int) -> SX:
    order = list(range(B.size1()))
    order[r], order[s] = s, r
    return B if r == s else B[order, :]


def reflections(A: SX) -> tuple[Reflections, SX]:
    """Q and R (min(r, n) x n, upper triangular) with Q A = [R; 0], for A of r x n; of a structural zero, R is empty."""
    r, n = A.size1(), A.size2()
    if A.is_zero():
        return Reflections(()), A[:0, :]
    steps: list[tuple[int, Reflection]] = []
    for c in range(min(r, n)):
        rows = tuple(p for p in range(c, r) if not A[p, c].is_zero()) or (c,)
        x = A[list(rows), c]
        if rows == (c,):
            continue
        size = copysign(sqrt(sumsqr(x)), x[0])
        w = vertcat(x[0] + size, x[1:])
        square = size * w[0]
        nothing = square <= NOTHING
        a, b = (x[0] + nothing) / (size + nothing), x[-1] / (size + nothing)
        step = Reflection(rows, w, 1 / (square + nothing), vertcat(horzcat(-a, -b), horzcat(-b, a)))
        steps.append((c, step))
        A = step.of(A)
        if len(rows) > 1:
            A[list(rows), c] = vertcat(-size, SX(len(rows) - 1, 1))
        A = _exchanged(A, c, rows[0])
    return Reflections(tuple(steps)), A[: min(r, n), :]


@dataclass(frozen=True, slots=True)
class Square:
    """A general square matrix, to be solved with; `lengths` are those of its rows at generic configurations.

    A singular block of it (strongly connected rows and columns) moves nothing, and the result's status tells.
    """

    A: SX
    lengths: tuple[float, ...]

    def solve(self, B: SX) -> SX:
        """A^-1 B, block by block of the triangular form that the zeros of A allow."""
        count, rows, columns, first, *_ = self.A.sparsity().btf()
        X = SX(self.A.size2(), B.size2())
        for start, end in pairwise(first[: count + 1]):
            own, places = rows[start:end], columns[start:end]
            scale = [self.lengths[row] for row in own]
            X[places, :] = solve_block(self.A[own, places], B[own, :] - self.A[own, :] @ X, scale)
        return X


def solve_block(A: SX, B: SX, lengths: Sequence[float]) -> SX:
    """A^-1 B; up to order three by cofactors, which no vanishing entry can upset, beyond by reflections."""
    n, least = A.size1(), VANISHING * prod(lengths)
    if n == 1:
        return B / divisor(A, fabs(A), least)
    if n == 2:
        (a, b), (c, d) = ((A[r, 0], A[r, 1]) for r in range(2))
        adjugate = vertcat(horzcat(d, -b), horzcat(-c, a))
        det = a * d - b * c
        return (adjugate @ B) / divisor(det, fabs(det), least)
    if n == 3:
        rows = [A[r, :].T for r in range(3)]
        columns = [cross3(rows[(r + 1) % 3], rows[(r + 2) % 3]) for r in range(3)]
        det = dot(rows[0], columns[0])
        return (horzcat(*columns) @ B) / divisor(det, fabs(det), least)
    Q, R = reflections(A)
    turned, solved = Q.rows(B), SX(n, B.size2())
    for r in reversed(range(n)):
        rest = turned[r, :] - R[r, r + 1 :] @ solved[r + 1 :, :]
        solved[r, :] = rest / divisor(R[r, r], fabs(R[r, r]), VANISHING * max(lengths))
    return solved
