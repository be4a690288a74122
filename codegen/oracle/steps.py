"""Steps of time for the oracle, and the derivatives of its configuration manifold: dense, from the definitions.

Exponential maps are differentiated as matrix functions of the adjoint: with [x, y] = ad(x) y, a step dv moves its end
by exp(-ad dv) where its start moves, and by the mean of exp(-s ad dv) where it changes itself. Dynamics are functions
(q, v) -> a of many states (leading dimension), steps functions of these, and derivatives complex steps or central
differences of whole steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.oracle import loops, manifold
from codegen.oracle.batches import end_to_end, numbers
from codegen.oracle.derivatives import complex_steps, many_differences
from codegen.oracle.rotations import cross_matrix, exponential, mean_rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]
    Dynamics = Callable[[Array, Array], Array]
    Step = Callable[[Model, Dynamics, Array, Array, float], tuple[Array, Array]]

SETTLED, MOST = 1e-15, 200  # of the fixed-point iteration of the implicit midpoint rule


def adjoint(joint: str, convention: str, dv: Array) -> Array:
    """ad of a joint's velocity (n x n), in its coordinates."""
    ad = np.zeros((*dv.shape, dv.shape[-1]), dv.dtype)
    if joint in ("spherical", "floating"):
        ad[..., -3:, -3:] = cross_matrix(dv[..., -3:])
    if joint == "floating" and convention == "pinocchio":
        ad[..., :3, :3], ad[..., :3, 3:] = cross_matrix(dv[..., 3:]), cross_matrix(dv[..., :3])
    if joint == "planar" and convention == "pinocchio":
        quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
        ad[..., :2, :2], ad[..., :2, 2] = np.multiply.outer(dv[..., 2], quarter), -dv[..., :2] @ quarter.T
    return ad


def by_joints(function: Callable[[Array], Array], model: Model, dv: ArrayLike) -> Array:
    """A matrix function, one of zero, of the adjoints of all joints that move by themselves (nv x nv)."""
    rates = numbers(dv) * loops.scales(model)
    found = np.zeros((*rates.shape, model.nv), rates.dtype)
    for body, own in zip(model.bodies, model.v_slices, strict=True):
        if own.stop > own.start:
            ad = adjoint(body.joint.type, model.convention, rates[..., own])
            found[..., own, own] = function(ad) if ad.any() else np.eye(ad.shape[-1])
    return found


def integrate_derivatives(model: Model, q: ArrayLike, dv: ArrayLike) -> tuple[Array, Array]:
    """How the end of a step moves (nv x nv) with its start, and with the step."""
    del q
    return by_joints(lambda ad: exponential(-ad), model, dv), by_joints(lambda ad: mean_rotation(-ad), model, dv)


def inverse_mean(ad: Array) -> Array:
    """The inverse of the mean of exp(s ad)."""
    return np.asarray(np.linalg.inv(mean_rotation(ad)), float)


def inverse_to_two_brackets(ad: Array) -> Array:
    """The inverse of the mean of exp(-s ad) up to ad squared, as methods of order 4 need it."""
    return np.asarray(np.eye(ad.shape[-1]) + ad / 2 + ad @ ad / 12)


def difference_derivatives(model: Model, q0: ArrayLike, q1: ArrayLike) -> tuple[Array, Array]:
    """How the difference of two configurations changes (nv x nv) with either."""
    dv = difference(model, np.asarray(q0, float), np.asarray(q1, float))
    by_q0, by_q1 = (by_joints(inverse_mean, model, s * dv) for s in (1.0, -1.0))
    return -by_q0, by_q1


def integrate(model: Model, q: Array, dv: Array) -> Array:
    """The configurations (..., nq) that steps (..., nv) lead to."""
    room: Any = loops if model.loops else manifold
    return np.asarray(room.integrate(model, q, dv))


def difference(model: Model, q0: Array, q1: Array) -> Array:
    """The steps (..., nv) that lead from some configurations to others."""
    room: Any = loops if model.loops else manifold
    return np.asarray(room.difference(model, q0, q1))


def semi_implicit_euler(model: Model, dynamics: Dynamics, q: Array, v: Array, dt: float) -> tuple[Array, Array]:
    """The states after dt: first the velocity, then the configuration by it."""
    after = v + dt * dynamics(q, v)
    return integrate(model, q, dt * after), after


def rk4(model: Model, dynamics: Dynamics, q: Array, v: Array, dt: float) -> tuple[Array, Array]:
    """The states after dt by the classical Runge-Kutta method on [step from q; velocity], vectors."""
    n = model.nv

    def rates(x: Array) -> Array:
        step, velocity = x[..., :n], x[..., n:]
        rate = (by_joints(inverse_to_two_brackets, model, step) @ velocity[..., None])[..., 0]
        return end_to_end(rate, dynamics(integrate(model, q, step), velocity))

    x = end_to_end(0.0 * v, v)
    k1 = rates(x)
    k2 = rates(x + dt / 2 * k1)
    k3 = rates(x + dt / 2 * k2)
    k4 = rates(x + dt * k3)
    end = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return integrate(model, q, end[..., :n]), end[..., n:]


def implicit_midpoint(model: Model, dynamics: Dynamics, q: Array, v: Array, dt: float) -> tuple[Array, Array]:
    """The states after dt by the velocity at its middle, a fixed point; LinAlgError if dt is too long for that."""
    w, moved, most = v, np.inf, np.inf
    for _ in range(MOST):
        before, w = w, v + dt / 2 * dynamics(integrate(model, q, dt / 2 * w), w)
        most, moved = min(most, moved), float(np.abs(w - before).max()) / max(1.0, float(np.abs(w).max()))
        if moved <= SETTLED or (moved <= 1e3 * SETTLED and moved >= most):
            return integrate(model, q, dt * w), 2 * w - v
    raise np.linalg.LinAlgError("the fixed point of the implicit midpoint rule is not found; take a shorter step")


STEPS: dict[str, Step] = {
    "semi_implicit_euler": semi_implicit_euler,
    "rk4": rk4,
    "implicit_midpoint": implicit_midpoint,
}


def derivatives(
    step: Callable[[Array, Array, Array], tuple[Array, Array]],
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    exact: bool,
) -> tuple[Array, Array]:
    """A and B of step(q, v, tau), which takes many states, along the tangents of q at both ends.

    They are by complex steps (`exact`) if the step takes these.
    """
    n, (end, _) = model.nv, step(q, v, tau)

    def moved(d: Array) -> Array:
        q_next, v_next = step(integrate(model, q, d[:, :n]), v + d[:, n : 2 * n], tau + d[:, 2 * n :])
        return end_to_end(difference(model, end, q_next), v_next)

    found = (complex_steps if exact else many_differences)(moved, 3 * n)
    return found[:, : 2 * n], found[:, 2 * n :]
