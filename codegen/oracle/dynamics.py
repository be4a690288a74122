"""Dynamics for the oracle: M vdot + bias = tau, body by body, from Newton-Euler in world axes.

Shapes are those of one state; inputs with leading batch dimensions put these in front.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import Pose
from codegen.oracle.batches import apply, numbers, solved, transposed
from codegen.oracle.kinematics import frame_motion, motions
from codegen.oracle.rotations import cross

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]


def equations(
    model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | None = None, external: Sequence[str] = ()
) -> tuple[Array, Array]:
    """M (nv, nv) and bias (nv): velocity products, gravity, and the external wrenches f_ext (k, 6)."""
    moving = motions(model, q, v)
    M = np.diag(armature(model))
    bias = np.zeros(model.nv)
    for body, frame in zip(model.bodies, moving, strict=True):
        mass = body.inertia.mass
        at = frame.at(Pose(translation=body.inertia.com))
        rotational = at.R @ np.array(body.inertia.moment) @ transposed(at.R)
        w, (linear, angular) = at.angular_velocity, (transposed(at.linear), transposed(at.angular))
        M = M + mass * linear @ at.linear + angular @ rotational @ at.angular
        force = mass * (at.acceleration - np.asarray(model.gravity))
        moment = apply(rotational, at.angular_acceleration) + cross(w, apply(rotational, w))
        bias = bias + apply(linear, force) + apply(angular, moment)
    if external:
        given = numbers(f_ext)
        batch = () if given.size == 6 * len(external) else bias.shape[:-1]
        wrenches = np.reshape(given, (*batch, len(external), 6))
        for n, name in enumerate(external):
            at = frame_motion(model, moving, model.frame(name))
            force, moment = apply(at.R, wrenches[..., n, :3]), apply(at.R, wrenches[..., n, 3:])
            bias = bias - apply(transposed(at.linear), force) - apply(transposed(at.angular), moment)
    return M, bias


def armature(model: Model) -> Array:
    """The armature of every velocity coordinate (nv): that of its joint."""
    widths = [columns.stop - columns.start for columns in model.v_slices]
    return np.repeat([body.joint.armature for body in model.bodies], widths)


def rnea(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    external: Sequence[str] = (),
) -> Array:
    """The joint forces tau (nv) that produce the accelerations a (nv)."""
    M, bias = equations(model, q, v, f_ext, external)
    return apply(M, numbers(a)) + bias


def crba(model: Model, q: ArrayLike) -> Array:
    """The joint-space inertia M (nv, nv), armature included."""
    return equations(model, q, np.zeros(model.nv))[0]


def minverse(model: Model, q: ArrayLike) -> Array:
    """The inverse of M (nv, nv)."""
    return np.asarray(np.linalg.inv(crba(model, q)))


def aba(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    external: Sequence[str] = (),
) -> Array:
    """The accelerations (nv) that the joint forces tau (nv) produce."""
    M, bias = equations(model, q, v, f_ext, external)
    return solved(M, numbers(tau) - bias)


def factors(M: Array) -> tuple[Array, Array]:
    """L and D of M = L' diag(D) L (n x n, or many), L unit lower: a Cholesky factor, from the last row to the first."""
    upper = np.linalg.cholesky(M[..., ::-1, ::-1])[..., ::-1, ::-1]  # M = upper upper'
    pivots = np.diagonal(upper, axis1=-2, axis2=-1)
    return np.swapaxes(upper / pivots[..., None, :], -1, -2), pivots**2
