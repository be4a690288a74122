"""The approximations of geared robots for the oracle: no rotors, but their inertias about their own axes.

What a loop drives weighs nothing; an independent joint with gear ratio n to a rotor of inertia I about its axis
feels n^2 I more on the diagonal of the inertia matrix, and nothing else of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import Inertia
from codegen.oracle import dynamics, kinematics, stated
from codegen.oracle.loops import Closed, closed
from codegen.oracle.rotations import cross

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Contact, Model

    Array = NDArray[np.float64]


def _equations(
    model: Model, q: ArrayLike, v: ArrayLike, f_ext: ArrayLike | None = None, external: Sequence[str] = ()
) -> tuple[Array, Array, Closed, Array]:
    """M, bias, the closed tree, and where the independent joints are among its velocities."""
    robot = closed(model, q)
    own = np.abs(robot.P).argmax(axis=1)
    driven = [b for b, place in enumerate(model.v_slices) if place.stop == place.start]
    bodies = tuple(
        replace(body, inertia=Inertia(), joint=replace(body.joint, armature=0.0)) if b in driven else body
        for b, body in enumerate(robot.tree.bodies)
    )
    rates = np.zeros(robot.tree.nv)
    rates[own] = np.asarray(v, float)
    light = replace(robot.tree, bodies=bodies)
    M, bias = dynamics.equations(light, robot.q, rates, f_ext, external)
    return M[np.ix_(own, own)] + np.diag(_reflected(model, robot)), bias[own], robot, own


def _reflected(model: Model, robot: Closed) -> Array:
    """n^2 I of everything that each independent joint drives, directly or through other gears (nv)."""
    felt = np.zeros(model.nv)
    for body, own, place in zip(model.bodies, model.v_slices, robot.tree.v_slices, strict=True):
        if own.stop == own.start:
            axis, com = np.array(body.joint.axis), np.array(body.inertia.com)
            lever = cross(axis, com)
            turned = axis @ np.array(body.inertia.moment) @ axis + body.inertia.mass * lever @ lever
            inertia = body.inertia.mass if body.joint.slide else turned
            felt += robot.G[place.start] ** 2 * (inertia + body.joint.armature)
    return felt


def rnea(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    external: Sequence[str] = (),
) -> Array:
    """The joint forces tau (nv) that produce the accelerations a (nv), nearly."""
    M, bias, _, _ = _equations(model, q, v, f_ext, external)
    return np.asarray(M @ np.asarray(a, float) + bias)


def aba(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    external: Sequence[str] = (),
) -> Array:
    """The accelerations (nv) that the joint forces tau (nv) produce, nearly."""
    M, bias, _, _ = _equations(model, q, v, f_ext, external)
    return np.asarray(np.linalg.solve(M, np.asarray(tau, float) - bias))


def delassus(model: Model, q: ArrayLike, *, contacts: Sequence[Contact]) -> Array:
    """W = J M^-1 J' (m, m), nearly."""
    M, _, robot, own = _equations(model, q, np.zeros(model.nv))
    J = stated.jacobian(robot.tree, kinematics.motions(robot.tree, robot.q), contacts)[:, own]
    return np.asarray(J @ np.linalg.solve(M, J.T))
