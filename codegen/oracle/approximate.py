"""The approximations of geared robots for the oracle: no rotors, but their inertias about their own axes.

What a loop drives weighs nothing; an independent joint with gear ratio n to a rotor of inertia I about its axis
feels n^2 I more on the diagonal of the inertia matrix, and nothing else of it. A differential is a gear with the ratios
that it has at the neutral configuration; there the joints that it drives are the independent ones, and its rotors weigh
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import Inertia
from codegen.kinematic_loops.states import neutral
from codegen.oracle import dynamics, kinematics, stated
from codegen.oracle.loops import closed
from codegen.oracle.rotations import cross

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Body, Contact, Model

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Nearly:
    """The tree without rotors: M and bias of the joints that are left, which are numbers `own` of the tree's.

    Their rates are B v.
    """

    M: Array
    bias: Array
    tree: Model
    q: Array
    own: list[int]
    B: Array


def _equations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    external: Sequence[str] = (),
    armature: bool = True,
) -> Nearly:
    """The equations at a state."""
    robot, still = closed(model, q), closed(model, neutral(model))
    dropped = _rotors(model)
    places = enumerate(robot.tree.v_slices)
    own = [n for b, place in places if b not in dropped for n in range(place.start, place.stop)]
    bodies = tuple(
        replace(body, inertia=Inertia(), joint=replace(body.joint, armature=0.0)) if b in dropped else body
        for b, body in enumerate(robot.tree.bodies)
    )
    B = still.G[own]
    rates = np.zeros(robot.tree.nv)
    rates[own] = B @ np.asarray(v, float)
    M, bias = dynamics.equations(replace(robot.tree, bodies=bodies), robot.q, rates, f_ext, external)
    felt = np.zeros(len(own))
    for b in dropped if armature else ():
        ratios = still.G[robot.tree.v_slices[b].start] @ np.linalg.inv(B)
        felt += ratios**2 * _about_axis(model.bodies[b])
    return Nearly(M[np.ix_(own, own)] + np.diag(felt), bias[own], robot.tree, robot.q, own, B)


def _rotors(model: Model) -> list[int]:
    """Bodies that weigh nothing: those that gears drive, and those that drive a differential."""
    driven = {b for b, place in enumerate(model.v_slices) if place.stop == place.start}
    for loop in model.loops:
        if not loop.explicit and len(loop.joints) == 2 * len(loop.independent):
            tied = {b for b, body in enumerate(model.bodies) if body.joint.name in loop.joints}
            driven ^= tied
    return sorted(driven)


def _about_axis(body: Body) -> float:
    """The inertia that turning a body about its axis feels, or its mass if it slides, and its armature."""
    axis, com = np.array(body.joint.axis), np.array(body.inertia.com)
    lever = cross(axis, com)
    turned = axis @ np.array(body.inertia.moment) @ axis + body.inertia.mass * lever @ lever
    return float(body.inertia.mass if body.joint.slide else turned) + body.joint.armature


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
    at = _equations(model, q, v, f_ext, external)
    return np.asarray(at.B.T @ (at.M @ at.B @ np.asarray(a, float) + at.bias))


def unconstrained_rnea(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    external: Sequence[str] = (),
) -> Array:
    """The same where rotors are nothing at all."""
    at = _equations(model, q, v, f_ext, external, armature=False)
    return np.asarray(at.B.T @ (at.M @ at.B @ np.asarray(a, float) + at.bias))


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
    at = _equations(model, q, v, f_ext, external)
    return np.asarray(np.linalg.solve(at.B.T @ at.M @ at.B, np.asarray(tau, float) - at.B.T @ at.bias))


def delassus(model: Model, q: ArrayLike, *, contacts: Sequence[Contact]) -> Array:
    """W = J M^-1 J' (m, m), nearly."""
    at = _equations(model, q, np.zeros(model.nv))
    J = stated.jacobian(at.tree, kinematics.motions(at.tree, at.q), contacts)[:, at.own]
    return np.asarray(J @ np.linalg.solve(at.M, J.T))
