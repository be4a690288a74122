"""Coordinate axes, numbered cyclically: after axis k come i = k + 1 and j = k + 2 (mod 3)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from casadi import DM, SX, cross, diag, is_equal, sparsify
from numpy.typing import ArrayLike

from codegen.geometry import Vec3


def zeros(rows: int, columns: int = 1) -> SX:
    """A matrix of structural zeros."""
    return SX(rows, columns)


def constant(values: ArrayLike) -> SX:
    """Numbers as an SX whose zeros are structural."""
    return SX(sparsify(DM(np.asarray(values, float))))


def diagonal(x: SX, n: int) -> SX:
    """The n x n diagonal matrix of n numbers, or of one."""
    return SX.eye(n) * x if x.size1() == 1 else diag(x)


def without_rows(A: SX, rows: Iterable[int]) -> SX:
    """A with structural zeros in some rows."""
    B = SX(A)
    for r in rows:
        B[r, :] = SX(1, A.size2())
    return B


def units(F: SX) -> SX:
    """Unit vectors along the rows where F has entries, the other way round where one of these is minus one."""
    rows = [r for r in range(F.size1()) if not F[r, :].is_zero()]
    turned = [any(is_equal(F[r, c], SX(-1)) for c in range(F.size2())) for r in rows]
    return SX.eye(F.size1())[:, rows] @ diag(SX([-1.0 if minus else 1.0 for minus in turned]))


def others(k: int) -> tuple[int, int]:
    """The two axes after k, in cyclic order."""
    return (k + 1) % 3, (k + 2) % 3


def unit_axis(axis: Vec3) -> tuple[int, float]:
    """The number and sign of a coordinate axis; ValueError if `axis` is not one."""
    k = max(range(3), key=lambda n: abs(axis[n]))
    if abs(axis[k]) != 1.0 or any(axis[n] != 0.0 for n in others(k)):
        raise ValueError(f"{axis} is not a coordinate axis; the model's frames must be canonical")
    return k, axis[k]


def cross3(a: SX, b: SX) -> SX:
    """The cross product of two 3-vectors; structural zeros cost nothing and stay zeros."""
    return cross(a, b)


def skew3(a: SX) -> SX:
    """The cross-product matrix [a]x."""
    S = SX(3, 3)
    S[0, 1], S[0, 2], S[1, 2] = -a[2], a[1], -a[0]
    S[1, 0], S[2, 0], S[2, 1] = a[2], -a[1], a[0]
    return S
