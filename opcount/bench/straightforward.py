"""Rigid-body dynamics as one writes them down first: dense 6 x 6 spatial algebra over SX, nothing clever.

This is what a careful user of CasADi has without this project: textbook recursions, matrices multiplied as they
stand, structural zeros dropped by SX itself, and C from CasADi's own generator. Spatial vectors are
[angular; linear]; conventions are those of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from codegen.geometry import skew

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.model import Body, Model

SX = Any  # casadi carries no types


@dataclass(frozen=True, slots=True)
class Links:
    """What the recursions need of every body: parent, columns in v, transform from the parent, subspace, inertia."""

    parent: tuple[int, ...]
    columns: tuple[slice, ...]
    X: tuple[SX, ...]
    S: tuple[SX, ...]
    inertia: tuple[SX, ...]
    gravity: SX
    nv: int


def links(model: Model, q: SX) -> Links:
    """The robot at configuration q (nq x 1). ValueError for a robot with loops or a joint that is not written."""
    if model.loops or any(body.joint.armature for body in model.bodies) or model.convention != "pinocchio":
        raise ValueError("the straightforward version knows no loops, no armature and one convention")
    joints = [joint(body, q[place]) for body, place in zip(model.bodies, model.q_slices, strict=True)]
    return Links(
        parent=tuple(body.parent for body in model.bodies),
        columns=tuple(model.v_slices),
        X=tuple(X @ fixed(b.placement.R, b.placement.p) for (X, _), b in zip(joints, model.bodies, strict=True)),
        S=tuple(S for _, S in joints),
        inertia=tuple(inertia(body) for body in model.bodies),
        gravity=ca.SX(np.concatenate([np.zeros(3), model.gravity])),
        nv=model.nv,
    )


def joint(body: Body, q: SX) -> tuple[SX, SX]:
    """Transform across a joint (6 x 6, motion, parent to child) and its motion subspace (6 x nv)."""
    axis, zero = np.array(body.joint.axis), np.zeros(3)
    if body.joint.type == "revolute":
        return fixed(turn(axis, q), zero), ca.SX(np.concatenate([axis, zero]))
    if body.joint.type == "prismatic":
        return fixed(np.eye(3), axis * q), ca.SX(np.concatenate([zero, axis]))
    if body.joint.type == "floating":
        exchange = np.block([[np.zeros((3, 3)), np.eye(3)], [np.eye(3), np.zeros((3, 3))]])
        return fixed(quaternion(q[3:7]), q[:3]), ca.SX(exchange)
    raise ValueError(f"the straightforward version has no {body.joint.type} joint")


def turn(axis: Any, angle: SX) -> SX:
    """The rotation about a unit axis."""
    K = skew(axis)
    return np.eye(3) + ca.sin(angle) * ca.SX(K) + (1 - ca.cos(angle)) * ca.SX(K @ K)


def quaternion(x: SX) -> SX:
    """The rotation of a unit quaternion (x, y, z, w)."""
    K = cross3(x[:3])
    return ca.SX.eye(3) + 2 * x[3] * K + 2 * K @ K


def cross3(x: SX) -> SX:
    """[x]x, 3 x 3."""
    return ca.skew(x)


def fixed(R: Any, p: Any) -> SX:
    """The motion transform into a frame at p with axes R (columns), 6 x 6."""
    E = ca.SX(R).T
    return ca.blockcat([[E, ca.SX(3, 3)], [-E @ cross3(ca.SX(p)), E]])


def inertia(body: Body) -> SX:
    """The spatial inertia about the body's origin, 6 x 6."""
    h = skew(body.inertia.first_moment)
    return ca.SX(np.block([[body.inertia.about_origin, h], [h.T, body.inertia.mass * np.eye(3)]]))


def cross(v: SX) -> SX:
    """[v] x for motions, 6 x 6; forces take minus its transpose."""
    w = cross3(v[:3])
    return ca.blockcat([[w, ca.SX(3, 3)], [cross3(v[3:]), w]])


def rnea(r: Links, v: SX, a: SX) -> SX:
    """Inverse dynamics."""
    velocity: list[SX] = []
    acceleration: list[SX] = []
    force: list[SX] = []
    for i, p in enumerate(r.parent):
        vj = r.S[i] @ v[r.columns[i]]
        vp, ap = (velocity[p], acceleration[p]) if p >= 0 else (ca.SX.zeros(6), -r.gravity)
        velocity.append(r.X[i] @ vp + vj)
        acceleration.append(r.X[i] @ ap + r.S[i] @ a[r.columns[i]] + cross(velocity[i]) @ vj)
        momentum = r.inertia[i] @ velocity[i]
        force.append(r.inertia[i] @ acceleration[i] - cross(velocity[i]).T @ momentum)
    tau = ca.SX.zeros(r.nv)
    for i in reversed(range(len(r.parent))):
        tau[r.columns[i]] = r.S[i].T @ force[i]
        if r.parent[i] >= 0:
            force[r.parent[i]] += r.X[i].T @ force[i]
    return tau


def crba(r: Links) -> SX:
    """The joint-space inertia matrix."""
    composite = list(r.inertia)
    M = ca.SX.zeros(r.nv, r.nv)
    for i in reversed(range(len(r.parent))):
        p = r.parent[i]
        if p >= 0:
            composite[p] = composite[p] + r.X[i].T @ composite[i] @ r.X[i]
        F, j = composite[i] @ r.S[i], i
        M[r.columns[i], r.columns[i]] = r.S[i].T @ F
        while r.parent[j] >= 0:
            F, j = r.X[j].T @ F, r.parent[j]
            M[r.columns[j], r.columns[i]] = r.S[j].T @ F
            M[r.columns[i], r.columns[j]] = M[r.columns[j], r.columns[i]].T
    return M


def aba(r: Links, v: SX, tau: SX) -> SX:
    """Forward dynamics by articulated bodies."""
    velocity: list[SX] = []
    drift, IA, pA = [], list(r.inertia), []
    for i, p in enumerate(r.parent):
        vj = r.S[i] @ v[r.columns[i]]
        velocity.append((r.X[i] @ velocity[p] if p >= 0 else 0) + vj)
        drift.append(cross(velocity[i]) @ vj)
        pA.append(-cross(velocity[i]).T @ (r.inertia[i] @ velocity[i]))
    U: dict[int, SX] = {}
    u, solve = {}, {}
    for i in reversed(range(len(r.parent))):
        U[i] = IA[i] @ r.S[i]
        solve[i] = solver(r.S[i].T @ U[i])
        u[i] = tau[r.columns[i]] - r.S[i].T @ pA[i]
        if r.parent[i] >= 0:
            Ia = IA[i] - U[i] @ solve[i](U[i].T)
            pa = pA[i] + Ia @ drift[i] + U[i] @ solve[i](u[i])
            IA[r.parent[i]] = IA[r.parent[i]] + r.X[i].T @ Ia @ r.X[i]
            pA[r.parent[i]] = pA[r.parent[i]] + r.X[i].T @ pa
    a: list[SX] = []
    qdd = ca.SX.zeros(r.nv)
    for i, p in enumerate(r.parent):
        before = r.X[i] @ (a[p] if p >= 0 else -r.gravity) + drift[i]
        qdd[r.columns[i]] = solve[i](u[i] - U[i].T @ before)
        a.append(before + r.S[i] @ qdd[r.columns[i]])
    return qdd


def solver(D: SX) -> Callable[[SX], SX]:
    """x -> D^-1 x for a symmetric positive definite D."""
    if D.shape == (1, 1):
        return lambda x: x / D
    factors = ca.ldl(D)
    return lambda x: ca.ldl_solve(x, *factors)


def ancestors(r: Links) -> tuple[tuple[int, ...], ...]:
    """For every velocity coordinate, those above it in the tree, nearest first."""
    above: list[tuple[int, ...]] = []
    for i, place in enumerate(r.columns):
        p = r.parent[i]
        chain = (r.columns[p].stop - 1, *above[r.columns[p].stop - 1]) if p >= 0 else ()
        for k in range(place.start, place.stop):
            above.append(chain)
            chain = (k, *chain)
    return tuple(above)


def factor(M: SX, above: tuple[tuple[int, ...], ...]) -> SX:
    """L (below the diagonal, unit) and D (on it) with M = L' D L, along the branches of the tree."""
    H = ca.SX(M)
    for k in reversed(range(len(above))):
        for i, up in enumerate(above[k]):
            ratio = H[k, up] / H[k, k]
            for j in above[k][i:]:
                H[up, j] -= ratio * H[k, j]
            H[k, up] = ratio
    return H


def half_solved(H: SX, above: tuple[tuple[int, ...], ...], x: SX) -> list[SX]:
    """L'^-1 x for the factors of `factor`."""
    y = [x[i] for i in range(len(above))]
    for k in reversed(range(len(above))):
        for up in above[k]:
            y[up] -= H[k, up] * y[k]
    return y


def solved(H: SX, above: tuple[tuple[int, ...], ...], x: SX) -> SX:
    """M^-1 x for the factors of `factor`."""
    y = half_solved(H, above, x)
    for k, chain in enumerate(above):
        y[k] /= H[k, k]
        for up in chain:
            y[k] -= H[k, up] * y[up]
    return ca.vertcat(*y)


def ltl(r: Links, v: SX, tau: SX) -> SX:
    """Forward dynamics by the joint-space inertia matrix and its LTL factors."""
    above = ancestors(r)
    return solved(factor(crba(r), above), above, tau - rnea(r, v, ca.SX.zeros(r.nv)))


def minverse(r: Links) -> SX:
    """The inverse of the joint-space inertia matrix, column by column."""
    above = ancestors(r)
    H = factor(crba(r), above)
    return ca.horzcat(*(solved(H, above, column) for column in ca.horzsplit(ca.SX.eye(r.nv))))


ALGORITHMS: dict[str, tuple[Callable[..., SX], tuple[str, ...]]] = {
    "rnea": (rnea, ("v", "a")),
    "crba": (crba, ()),
    "aba": (aba, ("v", "tau")),
    "ltl": (ltl, ("v", "tau")),
    "minverse": (minverse, ()),
}


def function(model: Model, algorithm: str) -> Any:
    """The casadi.Function of an algorithm; a matrix comes out dense and row-major (transposed)."""
    q = ca.SX.sym("q", model.nq)
    run, names = ALGORITHMS[algorithm]
    others = [ca.SX.sym(name, model.nv) for name in names]
    result = ca.densify(run(links(model, q), *others))
    return ca.Function(algorithm, [q, *others], [result.T if result.shape[1] > 1 else result])
