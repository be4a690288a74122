"""The configuration manifold for the oracle: steps of constant velocity over unit time, and back.

Shapes are those of one state; inputs with leading batch dimensions put these in front.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.oracle.batches import apply, end_to_end, numbers, solved, transposed
from codegen.oracle.rotations import (
    cross_matrix,
    from_vector,
    matrix,
    mean_rotation,
    multiply,
    scalar_last,
    stored,
    to_vector,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]

_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])


def integrate(model: Model, q: ArrayLike, dv: ArrayLike) -> Array:
    """The configuration (nq) that the constant velocity dv (nv) reaches from q (nq) in unit time."""
    q, dv = numbers(q), numbers(dv)
    steps = zip(model.bodies, model.q_slices, model.v_slices, strict=True)
    return end_to_end(*(moved(body.joint.type, model.convention, q[..., i], dv[..., j]) for body, i, j in steps))


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Array:
    """The shortest dv (nv) with integrate(q0, dv) = q1 (quaternions up to sign)."""
    q0, q1 = numbers(q0), numbers(q1)
    steps = zip(model.bodies, model.q_slices, strict=True)
    return end_to_end(*(between(body.joint.type, model.convention, q0[..., i], q1[..., i]) for body, i in steps))


def moved(joint: str, convention: str, q: Array, dv: Array) -> Array:
    """The positions of a joint after a unit of time at velocity dv."""
    if joint == "spherical":
        return _turned(q, dv, convention)
    if joint == "floating":
        slide, turn = dv[..., :3], dv[..., 3:]
        if convention == "pinocchio":
            slide = apply(matrix(scalar_last(q[..., 3:], convention)), apply(mean_rotation(cross_matrix(turn)), slide))
        return end_to_end(q[..., :3] + slide, _turned(q[..., 3:], turn, convention))
    if joint == "planar" and convention == "pinocchio":
        slide = apply(_in_plane(q[..., 2]), apply(mean_rotation(_spin(dv[..., 2])), dv[..., :2]))
        return end_to_end(q[..., :2] + slide, q[..., 2:] + dv[..., 2:])
    return q + dv


def between(joint: str, convention: str, q0: Array, q1: Array) -> Array:
    """The shortest velocity that takes a joint from positions q0 to q1 in a unit of time."""
    if joint == "spherical":
        return _turn(q0, q1, convention)
    if joint == "floating":
        slide, turn = q1[..., :3] - q0[..., :3], _turn(q0[..., 3:], q1[..., 3:], convention)
        if convention == "pinocchio":
            start = matrix(scalar_last(q0[..., 3:], convention))
            slide = solved(mean_rotation(cross_matrix(turn)), apply(transposed(start), slide))
        return end_to_end(slide, turn)
    if joint == "planar" and convention == "pinocchio":
        turn = q1[..., 2:] - q0[..., 2:]
        slide = apply(transposed(_in_plane(q0[..., 2])), q1[..., :2] - q0[..., :2])
        return end_to_end(solved(mean_rotation(_spin(turn[..., 0])), slide), turn)
    return q1 - q0


def _turned(quaternion: Array, turn: Array, convention: str) -> Array:
    """A stored quaternion turned by a rotation vector in its own (moving) axes."""
    return stored(multiply(scalar_last(quaternion, convention), from_vector(turn)), convention)


def _turn(start: Array, end: Array, convention: str) -> Array:
    """The rotation vector, in the axes of `start`, between two stored quaternions."""
    return to_vector(multiply(scalar_last(start, convention) * _CONJUGATE, scalar_last(end, convention)))


def _spin(rate: Array) -> Array:
    return np.multiply.outer(rate, [[0.0, -1.0], [1.0, 0.0]])


def _in_plane(angle: Array) -> Array:
    return np.multiply.outer(np.cos(angle), np.eye(2)) + _spin(np.sin(angle))
