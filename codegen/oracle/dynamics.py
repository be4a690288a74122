"""Dynamics for the oracle: M vdot + bias = tau, body by body, from Newton-Euler in world axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import Pose
from codegen.oracle.kinematics import frame_motion, motions

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
        rotational = at.R @ np.array(body.inertia.moment) @ at.R.T
        w = at.angular_velocity
        M += mass * at.linear.T @ at.linear + at.angular.T @ rotational @ at.angular
        force = mass * (at.acceleration - np.asarray(model.gravity))
        moment = rotational @ at.angular_acceleration + np.cross(w, rotational @ w)
        bias += at.linear.T @ force + at.angular.T @ moment
    if external:
        for name, wrench in zip(external, np.asarray(f_ext, float).reshape(-1, 6), strict=True):
            at = frame_motion(model, moving, model.frame(name))
            bias -= at.linear.T @ at.R @ wrench[:3] + at.angular.T @ at.R @ wrench[3:]
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
    return np.asarray(M @ np.asarray(a, float) + bias)


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
    return np.asarray(np.linalg.solve(M, np.asarray(tau, float) - bias))
