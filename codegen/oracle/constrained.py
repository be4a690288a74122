"""Constrained dynamics for the oracle: contacts on any frames, and loops, all dense.

In the robot's own velocities, M a + bias = tau + J' lam and J a + drift = k, with a row of J for every held row of
[angular acceleration; classical linear acceleration] of a contact's frame, in that frame's axes. What a contact's rows
lack without it, s = k - drift - J a_free, is made up by lam = W^+ s with the Delassus matrix W = J M^-1 J':
for redundant or contradicting rows the least squares, of least |lam - lam0|, of which the limit of the proximal
algorithms is one. Singular values below `RANK` times the largest count as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.algorithms import OPTIONAL
from codegen.oracle import dynamics, kinematics, loops
from codegen.oracle.parameters import with_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Contact, Model

    Array = NDArray[np.float64]

RANK = 1e-8
REGULAR = 1e-3  # the smallest eigenvalue of W (other than zeros) from which five proximal steps reach 1e-10


@dataclass(frozen=True, slots=True)
class Equations:
    """M (nv, nv), bias (nv), J (m, nv) and drift (m) at one state, in the robot's own velocities."""

    M: Array
    bias: Array
    J: Array
    drift: Array


def equations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    contacts: Sequence[Contact],
    external: Sequence[str] = (),
) -> Equations:
    """The equations of motion, and the accelerations of the contacts' rows."""
    robot = loops.closed(model, q)
    rates = robot.G @ np.asarray(v, float)
    M, bias = dynamics.equations(robot.tree, robot.q, rates, f_ext, external)
    moving = kinematics.motions(robot.tree, robot.q, rates)
    J, drift = np.zeros((0, robot.tree.nv)), np.zeros(0)
    for contact in contacts:
        at = kinematics.frame_motion(robot.tree, moving, robot.tree.frame(contact.frame.name))
        rows = np.array(contact.rows) @ np.kron(np.eye(2), at.R.T)
        J = np.vstack([J, rows @ np.vstack([at.angular, at.linear])])
        drift = np.append(drift, rows @ np.append(at.angular_acceleration, at.acceleration))
    g = robot.g(rates)
    return Equations(robot.G.T @ M @ robot.G, robot.G.T @ (M @ g + bias), J @ robot.G, drift + J @ g)


def solution(at: Equations, tau: Array, k: Array, lam0: Array) -> tuple[Array, Array]:
    """Accelerations (nv) and multipliers (m) with the rows held as well as they can be."""
    L = np.linalg.cholesky(at.M)
    A = np.linalg.solve(L, at.J.T)  # W = A' A, and pinv(W) = pinv(A) pinv(A)'
    free = np.linalg.solve(at.M, tau - at.bias)
    pseudo = np.linalg.pinv(A, rcond=RANK)
    lam = lam0 + pseudo @ (pseudo.T @ (k - at.drift - at.J @ free - at.J @ np.linalg.solve(at.M, at.J.T @ lam0)))
    return np.asarray(free + np.linalg.solve(L.T, A @ lam), float), lam


def softened(at: Equations, tau: Array, k: Array, R: Array) -> tuple[Array, Array]:
    """The same of rows that give way: lam = (k - drift - J a) / R."""
    a = np.linalg.solve(at.M + at.J.T / R @ at.J, tau - at.bias + at.J.T @ ((k - at.drift) / R))
    return np.asarray(a, float), np.asarray((k - at.drift - at.J @ a) / R, float)


def rank(at: Equations) -> tuple[int, bool]:
    """How many rows are independent, and whether they are so with a margin: a regular state."""
    sizes = np.linalg.svd(np.linalg.solve(np.linalg.cholesky(at.M), at.J.T), compute_uv=False)
    held = sizes[sizes > RANK * sizes.max(initial=0.0)]
    return len(held), bool(np.square(held).min(initial=1.0) >= REGULAR)


def delassus(at: Equations) -> Array:
    """W (m, m)."""
    return np.asarray(at.J @ np.linalg.solve(at.M, at.J.T))


def damped(at: Equations, mu: float) -> Array:
    """The inverse (m, m) of W + 1/mu."""
    return np.asarray(np.linalg.inv(delassus(at) + np.eye(len(at.J)) / mu), float)


def entry(kind: str, undamped: bool = False) -> Callable[..., Array | tuple[Array, ...]]:
    """An entry of `codegen.oracle.ORACLE`: `held`, `soft`, `W`, `Winv`, or an inverse `applied` to a vector.

    Optional inputs of the algorithms (`codegen.algorithms.OPTIONAL`) are given by name among the `parameters`.
    """

    def evaluate(
        model: Model,
        q: ArrayLike,
        *state: ArrayLike,
        frames: Sequence[str] = (),
        external: Sequence[str] = (),
        contacts: Sequence[Contact] = (),
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Array | tuple[Array, ...]:
        given = {**OPTIONAL, **(parameters or {})}
        model = with_parameters(model, {name: values for name, values in given.items() if name not in OPTIONAL})
        held = tuple(contacts) or tuple(model.contact(tip) for tip in model.tips)
        if kind == "applied":
            mu = np.inf if undamped else float(np.asarray(given["mu"]))
            W = delassus(equations(model, q, np.zeros(model.nv), contacts=held))
            return np.linalg.solve(W + np.eye(len(W)) / mu, np.asarray(state[0], float))
        v, tau, *wrenches = state or (np.zeros(model.nv), np.zeros(model.nv))
        at = equations(model, q, v, *wrenches, contacts=held, external=tuple(external) if wrenches else ())
        k, lam0, R = (np.broadcast_to(np.asarray(given[name], float), len(at.J)) for name in ("k", "lam0", "R"))
        if kind == "held":
            return solution(at, np.asarray(tau, float), k, lam0)
        if kind == "soft":
            return softened(at, np.asarray(tau, float), k, R)
        return delassus(at) if kind == "W" else damped(at, float(np.asarray(given["mu"])))

    return evaluate


ENTRIES: dict[str, Callable[..., Array | tuple[Array, ...]]] = {
    **dict.fromkeys(
        ("pv", "pv_early", "prox_pv", "constrained_aba", "prox_ltl", "prox_ltls", "prox_kkt"), entry("held")
    ),
    **dict.fromkeys(("ltl_osim", "kjr", "pv_osim", "pv_osimr"), entry("W")),
    "pv_soft": entry("soft"),
    "caba_osim": entry("Winv"),
    "caba_osimf": entry("applied"),
    "pv_osimf": entry("applied", undamped=True),
}
