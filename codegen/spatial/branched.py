"""M = L' D L for a matrix with a tree's branch-induced sparsity: no fill-in, square-root free.

Featherstone, Rigid Body Dynamics Algorithms, sec. 6.5. The sparsity is that of a forest on the rows: entry
(r, c) may be non-zero only if one of r, c is an ancestor of the other; `parent[r]` is -1 at a root.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from casadi import SX, vertcat


@dataclass(frozen=True, slots=True)
class LTDL:
    """Unit lower-triangular L (row r: its entries by ancestor) and the pivots d."""

    L: tuple[dict[int, SX], ...]
    d: tuple[SX, ...]

    def half(self, B: SX) -> SX:
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

    def back(self, B: SX, known: Mapping[int, SX] | None = None) -> SX:
        """L^-1 B, of which some rows may be known already."""
        x = [B[r, :] for r in range(len(self.d))]
        # root to leaves: a row, once known, leaves its descendants' sums
        for r in range(len(x)):
            if known and r in known:
                x[r] = known[r]
                continue
            for c, factor in self.L[r].items():
                x[r] = x[r] - factor * x[c]
        return vertcat(*x)

    def solve(self, B: SX) -> SX:
        """M^-1 B for a matrix B of n rows."""
        return self.back(self.scale(self.half(B)))


def ancestors(parent: Sequence[int], r: int) -> tuple[int, ...]:
    """The ancestors of r, nearest first."""
    found = []
    while (r := parent[r]) >= 0:
        found.append(r)
    return tuple(found)


def ltdl(M: SX, parent: Sequence[int]) -> LTDL:
    """Factorise a symmetric positive definite M (n x n); only entries on the tree's paths are read."""
    return ltdl_above(M, [ancestors(parent, r) for r in range(len(parent))])


def nested(parent: Sequence[int], Jt: SX, below: Mapping[int, int]) -> tuple[list[int], list[tuple[int, ...]]]:
    """An order of the rows of [[., J], [J', M]] (J': n x m), and the pattern of the matrix in that order.

    A constraint stands right above the joint `below` it, to which alone (and what hangs on it) it then leads, or at
    the root, above all joints that it loads.
    """
    n, m = Jt.size1(), Jt.size2()
    loads = [{c for c in range(m) if not Jt[r, c].is_zero()} for r in range(n)]
    for r in reversed(range(n)):
        for a in ancestors(parent, r)[:1]:
            loads[a] |= loads[r]
    order = [c for c in range(m) if c not in below]
    for r in range(n):
        order += [*(c for c in range(m) if below.get(c) == r), m + r]
    place = {row: at for at, row in enumerate(order)}
    pattern = []
    for row in order:
        if row < m:
            top = below.get(row)
            beside = [c for c in range(row) if below.get(c) == top]
            left = [*beside, *(m + a for a in (() if top is None else ancestors(parent, top)))]
        else:
            own = {row - m, *ancestors(parent, row - m)}
            left = [*(m + a for a in own if a != row - m), *(c for c in loads[row - m] if below.get(c, row - m) in own)]
        pattern.append(tuple(sorted((place[r] for r in left), reverse=True)))
    return order, pattern


def ltdl_above(M: SX, pattern: Sequence[Sequence[int]]) -> LTDL:
    """Factorise a symmetric M whose row r has entries left of its diagonal only at pattern[r], nearest first.

    Any two rows of a pattern must be in one another's; then there is no fill-in.
    """
    n = len(pattern)
    H = [{c: M[r, c] for c in (r, *pattern[r])} for r in range(n)]
    factors: list[dict[int, SX]] = [{} for _ in range(n)]
    # leaves to root: eliminate row r from the rows above it
    for r in reversed(range(n)):
        factors[r] = {c: H[r][c] / H[r][r] for c in pattern[r]}
        for k, c in enumerate(pattern[r]):
            for m in pattern[r][k:]:
                H[c][m] = H[c][m] - factors[r][c] * H[r][m]
    return LTDL(tuple(factors), tuple(H[r][r] for r in range(n)))
