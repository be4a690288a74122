"""M = L' D L for a matrix with a tree's branch-induced sparsity: no fill-in, square-root free.

Featherstone, Rigid Body Dynamics Algorithms, sec. 6.5. The sparsity is that of a forest on the rows: entry
(r, c) may be non-zero only if one of r, c is an ancestor of the other; `parent[r]` is -1 at a root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from casadi import SX, vertcat


@dataclass(frozen=True, slots=True)
class LTDL:
    """Unit lower-triangular L (row r: its entries by ancestor) and the pivots d."""

    L: tuple[dict[int, SX], ...]
    d: tuple[SX, ...]

    def forward(self, B: SX) -> SX:
        """L'^-1 B for a matrix B of n rows."""
        x = [B[r, :] for r in range(len(self.d))]
        # leaves to root: a row, once known, leaves its ancestors' sums
        for r in reversed(range(len(x))):
            for c, factor in self.L[r].items():
                x[c] = x[c] - factor * x[r]
        return vertcat(*x)

    def scale(self, B: SX) -> SX:
        """D^-1 B."""
        return vertcat(*[B[r, :] / pivot for r, pivot in enumerate(self.d)])

    def backward(self, B: SX) -> SX:
        """L^-1 B."""
        x = [B[r, :] for r in range(len(self.d))]
        # root to leaves: a row, once known, leaves its descendants' sums
        for r in range(len(x)):
            for c, factor in self.L[r].items():
                x[r] = x[r] - factor * x[c]
        return vertcat(*x)

    def solve(self, B: SX) -> SX:
        """M^-1 B for a matrix B of n rows."""
        return self.backward(self.scale(self.forward(B)))


def ancestors(parent: Sequence[int], r: int) -> tuple[int, ...]:
    """The ancestors of r, nearest first."""
    found = []
    while (r := parent[r]) >= 0:
        found.append(r)
    return tuple(found)


def ltdl(M: SX, parent: Sequence[int]) -> LTDL:
    """Factorise a symmetric positive definite M (n x n); only entries on the tree's paths are read."""
    n, pattern = len(parent), [ancestors(parent, r) for r in range(len(parent))]
    H = [{c: M[r, c] for c in (r, *pattern[r])} for r in range(n)]
    factors: list[dict[int, SX]] = [{} for _ in range(n)]
    # leaves to root: eliminate row r from the rows above it
    for r in reversed(range(n)):
        factors[r] = {c: H[r][c] / H[r][r] for c in pattern[r]}
        for k, c in enumerate(pattern[r]):
            for m in pattern[r][k:]:
                H[c][m] = H[c][m] - factors[r][c] * H[r][m]
    return LTDL(tuple(factors), tuple(H[r][r] for r in range(n)))
