"""Rotations for the oracle: quaternions, rotation vectors, and their exponential, by dense matrices.

All take leading batch dimensions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from codegen.oracle.batches import apply, norms

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

_AXES = np.reshape(np.cross(np.eye(3), np.eye(3)[:, None]), (3, 9))  # [e]x of the axes e, a row each


def cross_matrix(w: ArrayLike) -> Array:
    """[w]x (..., 3, 3) of vectors w (..., 3), so that cross_matrix(w) @ x = cross(w, x)."""
    w = np.asarray(w)  # real, or complex where derivatives are taken by complex steps
    return np.reshape(w @ _AXES, (*w.shape, 3))


def cross(a: ArrayLike, b: ArrayLike) -> Array:
    """a x b (..., 3) of vectors; for single ones six times as fast as NumPy's."""
    return apply(cross_matrix(a), np.asarray(b))


def about(axis: ArrayLike, angle: ArrayLike) -> Array:
    """The rotations (..., 3, 3) by angles (...) in rad about one axis (3), of any length."""
    W, turn = cross_matrix(np.asarray(axis, float) / np.linalg.norm(axis)), np.asarray(angle)[..., None, None]
    return np.asarray(np.eye(3) + np.sin(turn) * W + (1.0 - np.cos(turn)) * (W @ W))


def turned(sine: Array, cosine: Array) -> Array:
    """The angles (rad) of these sines and cosines, of complex ones along their imaginary parts."""
    slope = (cosine.real * sine.imag - sine.real * cosine.imag) / (cosine.real**2 + sine.real**2)
    return np.asarray(np.arctan2(sine.real, cosine.real) + 1j * slope)


def scalar_last(quaternion: Array, convention: str) -> Array:
    """A stored quaternion as (x, y, z, w): `mujoco` stores (w, x, y, z), `pinocchio` (x, y, z, w)."""
    return np.roll(quaternion, -1, axis=-1) if convention == "mujoco" else quaternion


def stored(quaternion: Array, convention: str) -> Array:
    """The inverse of `scalar_last`."""
    return np.roll(quaternion, 1, axis=-1) if convention == "mujoco" else quaternion


def multiply(a: Array, b: Array) -> Array:
    """The quaternion product a b, scalar last."""
    (u, s), (w, t) = (np.split(x, [3], axis=-1) for x in (a, b))
    return np.concatenate([s * w + t * u + cross(u, w), s * t - (u * w).sum(axis=-1, keepdims=True)], axis=-1)


def matrix(quaternion: Array) -> Array:
    """The rotation x -> q x q* of a quaternion, scalar last, whatever its length."""
    conjugate = quaternion * [-1.0, -1.0, -1.0, 1.0]
    turned = [multiply(multiply(quaternion, np.append(e, 0.0)), conjugate)[..., :3] for e in np.eye(3)]
    squared = (quaternion * quaternion).sum(axis=-1)
    return np.asarray(np.stack(turned, axis=-1) / squared[..., None, None])


def from_vector(turn: Array) -> Array:
    """The quaternion, scalar last, of a rotation vector (rad); exact at zero."""
    half = norms(turn) / 2.0
    return np.concatenate([turn * np.sinc(half / np.pi) / 2.0, np.cos(half)], axis=-1)


def to_vector(quaternion: Array) -> Array:
    """The rotation vector of a quaternion, scalar last, by the short way round (at most pi long; pi/2 if complex)."""
    part, cosine = quaternion[..., :3], quaternion[..., 3:]
    sine = norms(part)
    half = np.arcsin(sine) if np.iscomplexobj(sine) else np.arctan2(sine, np.abs(cosine))
    still = sine == 0.0
    stretch = np.where(still, 1.0, half / np.where(still, 1.0, sine))
    return np.asarray(part * (np.where(cosine.real < 0.0, -2.0, 2.0) * stretch))


def exponential(A: Array) -> Array:
    """The matrix exponential, by scaling, Taylor series and squaring (for norms of a few units)."""
    size = float(np.linalg.norm(A, axis=(-2, -1)).max(initial=1e-300))
    squarings = max(0, math.ceil(math.log2(size)) + 2)
    scaled = A / 2.0**squarings
    term = total = np.eye(A.shape[-1])
    for order in range(1, 19):
        term = term @ scaled / order
        total = total + term
    return np.asarray(np.linalg.matrix_power(total, 2**squarings))


def mean_rotation(W: Array) -> Array:
    """The integral of exp(s W) over s from 0 to 1: the corner block of one larger exponential.

    A body that moves with constant twist (u, w) in its own axes for unit time is displaced by
    mean_rotation([w]x) u, in its starting axes. W may be 2 x 2 (motion in a plane) or 3 x 3.
    """
    n = W.shape[-1]
    corner = np.zeros((*W.shape[:-2], 2 * n, 2 * n), W.dtype)
    corner[..., :n, :n], corner[..., :n, n:] = W, np.eye(n)
    return exponential(corner)[..., :n, n:]
