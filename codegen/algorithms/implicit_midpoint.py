"""Implicit midpoint: q+ = q (+) dt w and v+ = 2 w - v, with w = v + dt/2 a(q (+) dt/2 w, w, tau). Order 2, symmetric.

Hairer, Lubich, Wanner, Geometric Numerical Integration, sec. II.1 and V.4. Newton's method finds the velocity w at the
middle, from w = v, one step of it an iteration; the residual is the length of its next step (m/s, rad/s). Free robots
take the equation in the form of inverse dynamics, ID(q_m, w, 2 (w - v) / dt) = tau. Its Jacobian times dt/2,
M + dt/2 dID/dv + dt^2/4 dID/dq dq_m/dw, has the sparsity of M. Robots on contacts take the equation above. Derivatives
follow from the implicit function theorem at the w found. (+) is `integrate`; tau, external wrenches and what contacts
want are constant over the step (zero-order hold); dt must not be zero. Gravity is part of the dynamics.
"""

from __future__ import annotations

from collections.abc import Callable

from casadi import SX

from codegen.recursions.by_state import columns, start, state_and_input
from codegen.recursions.composition import Called
from codegen.recursions.iteration import Iteration
from codegen.spatial import eliminated

Equation = Callable[[SX], tuple[SX, SX, SX]]
"""Of w: the Jacobian (nv x nv) of the equation by w, what it lacks (nv), and the derivative of that by z, negated."""


def implicit_midpoint(
    rnea: Called, rnea_derivatives: Called, integrate: Called, moves: Called, q: SX, v: SX, tau: SX, dt: SX
) -> Iteration:
    """The configuration (nq) and velocity (nv) after dt (s)."""
    return solved(free(rnea, rnea_derivatives, integrate, moves, q, v, tau, dt), integrate, q, v, dt)


def implicit_midpoint_derivatives(
    rnea: Called, rnea_derivatives: Called, integrate: Called, moves: Called, q: SX, v: SX, tau: SX, dt: SX
) -> Iteration:
    """A (2 nv x 2 nv) and B (2 nv x nv) of the step."""
    return differentiated(free(rnea, rnea_derivatives, integrate, moves, q, v, tau, dt), moves, q, v, dt)


def held_midpoint(linearised: Called, integrate: Called, moves: Called, q: SX, v: SX, tau: SX, dt: SX) -> Iteration:
    """The configuration (nq) and velocity (nv) after dt (s), on contacts."""
    return solved(held(linearised, integrate, moves, q, v, tau, dt), integrate, q, v, dt)


def held_midpoint_derivatives(
    linearised: Called, integrate: Called, moves: Called, q: SX, v: SX, tau: SX, dt: SX
) -> Iteration:
    """A (2 nv x 2 nv) and B (2 nv x nv) of the step, on contacts."""
    return differentiated(held(linearised, integrate, moves, q, v, tau, dt), moves, q, v, dt)


def free(
    rnea: Called, rnea_derivatives: Called, integrate: Called, moves: Called, q: SX, v: SX, tau: SX, dt: SX
) -> Equation:
    """dt/2 (ID - tau) = 0."""

    def at(w: SX) -> tuple[SX, SX, SX]:
        half, n = dt / 2, v.size1()
        by_q, by_step = moves(q=q, dv=half * w)
        middle = {"q": integrate(q=q, dv=half * w)[0], "v": w, "a": (w - v) / half}
        Q, V, M = rnea_derivatives(**middle)
        lack = half * (rnea(**middle)[0] - tau)
        return M + half * (V + half * (Q @ by_step)), lack, columns(n, -half * (Q @ by_q), M, half * SX.eye(n))

    return at


def held(linearised: Called, integrate: Called, moves: Called, q: SX, v: SX, tau: SX, dt: SX) -> Equation:
    """w - v - dt/2 a = 0; z has w in the place of v while the dynamics are differentiated."""

    def at(w: SX) -> tuple[SX, SX, SX]:
        half, n = dt / 2, v.size1()
        by_q, by_step = moves(q=q, dv=half * w)
        middle = {"q": integrate(q=q, dv=half * w)[0], "v": w, "tau": tau}
        dq, dv = columns(n, by_q, half * by_step, None), columns(n, None, SX.eye(n), None)
        a, da = linearised(**middle, dq_dz=dq, dv_dz=dv)
        by_start, by_w, by_tau = (da[:, k * n : (k + 1) * n] for k in range(3))
        one = SX.eye(n)
        return one - half * by_w, w - v - half * a, columns(n, half * by_start, one, half * by_tau)

    return at


def solved(equation: Equation, integrate: Called, q: SX, v: SX, dt: SX) -> Iteration:
    """Newton's method, and the end of the step."""
    return newton(equation, v, lambda w: (integrate(q=q, dv=dt * w)[0], 2 * w - v))


def differentiated(equation: Equation, moves: Called, q: SX, v: SX, dt: SX) -> Iteration:
    """Newton's method, and the derivatives at what it finds."""

    def finish(w: SX) -> tuple[SX, SX]:
        dq, dv = start(v)
        K, _, by_z = equation(w)
        dw = eliminated(K, by_z)
        by_q, by_step = moves(q=q, dv=dt * w)
        return state_and_input(by_q @ dq + dt * (by_step @ dw), 2 * dw - dv)

    return newton(equation, v, finish)


def newton(equation: Equation, v: SX, finish: Callable[[SX], tuple[SX, ...]]) -> Iteration:
    """Newton's method from v; the start is its first step."""

    def move(w: SX) -> SX:
        K, lack, _ = equation(w)
        return -eliminated(K, lack)

    return Iteration((v + move(v),), lambda w: (w + move(w),), move, finish, lambda w: equation(w)[:2])
