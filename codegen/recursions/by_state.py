"""Derivatives of a step's quantities by z = [q; v; tau] at its start: nv x 3 nv, along the tangents of q."""

from __future__ import annotations

from casadi import SX, horzcat

from codegen.recursions.block_matrix import BlockMatrix, above, columns_of
from codegen.recursions.products import Result
from codegen.spatial import zeros


def columns(n: int, *blocks: SX | None) -> SX:
    """Three blocks of n columns, side by side; None is zeros (n x n)."""
    return horzcat(*[zeros(n, n) if block is None else block for block in blocks])


def start(v: SX) -> tuple[SX, SX]:
    """Those of q and v at the start itself."""
    n = v.size1()
    return columns(n, SX.eye(n), None, None), columns(n, None, SX.eye(n), None)


def by_tau(n: int) -> SX:
    """That of tau."""
    return columns(n, None, None, SX.eye(n))


def state_and_input(dq: Result, dv: Result) -> tuple[BlockMatrix, BlockMatrix]:
    """A = dx+/dx (2 nv x 2 nv) and B = dx+/dtau (2 nv x nv) of the end of a step."""
    n = dq.shape[0]
    found = above(dq, dv)
    return columns_of(found, 0, 2 * n), columns_of(found, 2 * n, n)
