"""Matrices and vectors for the oracle, one or many: leading dimensions, where there are any, are batches of states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]


def numbers(x: Any) -> Array:
    """Real numbers as floats; complex ones, by whose imaginary parts derivatives are taken, as they are."""
    found = np.asarray(x)
    return found if found.dtype.kind == "c" else np.asarray(found, float)


def apply(A: Array, x: Array) -> Array:
    """A x, for matrices A (..., m, n) and vectors x (..., n)."""
    return np.asarray((A @ x[..., None])[..., 0])


def transposed(A: Array) -> Array:
    """The transposes of matrices A (..., m, n)."""
    return np.swapaxes(A, -1, -2)


def norms(x: Array) -> Array:
    """The lengths (..., 1) of vectors x (..., n); of complex ones analytic, as complex steps need them."""
    return np.asarray(np.sqrt((x * x).sum(axis=-1, keepdims=True)))


def solved(A: Array, b: Array) -> Array:
    """x (..., n) of A x = b, for matrices A (..., n, n) and vectors b (..., n)."""
    return np.asarray(np.linalg.solve(A, b[..., None])[..., 0])


def below(*blocks: Array) -> Array:
    """Matrices (..., m_k, n) one below the other, those that all states share repeated."""
    batch = np.broadcast_shapes(*(block.shape[:-2] for block in blocks))
    return np.concatenate([np.broadcast_to(block, (*batch, *block.shape[-2:])) for block in blocks], axis=-2)


def joined(parts: Sequence[Array], batch: tuple[int, ...]) -> Array:
    """Vectors (..., n_k) end to end, those that all states share repeated; of length zero if there are none."""
    spread = [np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts]
    return np.concatenate([np.zeros((*batch, 0)), *spread], axis=-1)


def end_to_end(*parts: Array) -> Array:
    """The same of one part and more, whose states are as many as the parts have together."""
    return joined(parts, np.broadcast_shapes(*(part.shape[:-1] for part in parts)))
