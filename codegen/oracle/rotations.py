"""Rotations for the oracle: quaternions, rotation vectors, and their exponential, by dense matrices.

Products, matrices and rotations about axes take leading batch dimensions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from codegen.oracle.batches import apply

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
    half = np.sqrt((turn * turn).sum()) / 2.0
    return np.append(turn * np.sinc(half / np.pi) / 2.0, np.cos(half))


def to_vector(quaternion: Array) -> Array:
    """The rotation vector of a quaternion, scalar last, by the short way round (at most pi long; pi/2 if complex)."""
    sign = -1.0 if quaternion[3].real < 0.0 else 1.0
    sine = np.sqrt((quaternion[:3] * quaternion[:3]).sum())
    if sine == 0.0:
        return np.asarray(2.0 * sign * quaternion[:3])
    half = np.arcsin(sine) if np.iscomplexobj(sine) else np.arctan2(sine, abs(quaternion[3]))
    return np.asarray(quaternion[:3] * (2.0 * sign * half / sine))


def exponential(A: Array) -> Array:
    """The matrix exponential, by scaling, Taylor series and squaring (for norms of a few units)."""
    squarings = max(0, math.ceil(math.log2(max(float(np.linalg.norm(A)), 1e-300))) + 2)
    scaled = A / 2.0**squarings
    term = total = np.eye(len(A))
    for order in range(1, 19):
        term = term @ scaled / order
        total = total + term
    return np.asarray(np.linalg.matrix_power(total, 2**squarings))


def mean_rotation(W: Array) -> Array:
    """The integral of exp(s W) over s from 0 to 1: the corner block of one larger exponential.

    A body that moves with constant twist (u, w) in its own axes for unit time is displaced by
    mean_rotation([w]x) u, in its starting axes. W may be 2 x 2 (motion in a plane) or 3 x 3.
    """
    n = len(W)
    return exponential(np.block([[W, np.eye(n)], [np.zeros((n, 2 * n))]]))[:n, n:]
