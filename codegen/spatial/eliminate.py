"""General square systems with the sparsity of a tree's matrices, by Gauss's elimination from the last row to the first.

Children come after their parents, so that rows and columns of leaves go first and zeros stay zeros (Featherstone, Rigid
Body Dynamics Algorithms, sec. 6.5, of matrices that need not be symmetric). Rows are not exchanged: pivots are those of
matrices near to positive definite ones.
"""

from __future__ import annotations

from collections.abc import Callable

from casadi import SX, vertcat


def eliminated(A: SX, B: SX, pivot: Callable[[SX], SX] | None = None) -> SX:
    """A^-1 B for a matrix B of n rows; what is divided by is made of each pivot, where these may vanish."""
    n = A.size1()
    H = [{c: A[r, c] for c in range(n) if not A[r, c].is_zero()} for r in range(n)]
    x = [B[r, :] for r in range(n)]
    # last row to first: eliminate its unknown from the rows above it
    for r in reversed(range(n)):
        if pivot:
            H[r][r] = pivot(H[r].get(r, SX(0)))
        for above in (c for c in range(r) if r in H[c]):
            factor = H[above].pop(r) / H[r][r]
            x[above] = x[above] - factor * x[r]
            for c, value in H[r].items():
                if c < r:
                    H[above][c] = H[above].get(c, SX(0)) - factor * value
    # first row to last: every unknown by those before it
    for r in range(n):
        for c in sorted(c for c in H[r] if c < r):
            x[r] = x[r] - H[r][c] * x[c]
        x[r] = x[r] / H[r][r]
    return vertcat(*x)
