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

from codegen.recursions.block_matrix import BlockMatrix, beside
from codegen.recursions.by_state import columns, state_and_input
from codegen.recursions.composition import Called, Divided, OfColumns, Parts
from codegen.recursions.iteration import Iteration
from codegen.recursions.products import Product, Result, added, combined
from codegen.recursions.scaling import scaled
from codegen.recursions.systems import Solved

Equation = Divided
"""Of w: the Jacobian K (nv x nv) of the equation by w, what it lacks (nv), and -2 times the derivative of that by z."""


def implicit_midpoint(
    parts: Parts,
    rnea: Called,
    rnea_derivatives: Called,
    integrate: Called,
    moves: Called,
    q: SX,
    v: SX,
    tau: SX,
    dt: SX,
) -> Iteration:
    """The configuration (nq) and velocity (nv) after dt (s)."""
    return solved(parts, free(rnea, rnea_derivatives, integrate, moves, q, v, tau, dt), integrate, q, v, dt)


def implicit_midpoint_derivatives(
    parts: Parts,
    rnea: Called,
    rnea_derivatives: Called,
    integrate: Called,
    moves: Called,
    q: SX,
    v: SX,
    tau: SX,
    dt: SX,
) -> Iteration:
    """A (2 nv x 2 nv) and B (2 nv x nv) of the step."""
    return differentiated(parts, free(rnea, rnea_derivatives, integrate, moves, q, v, tau, dt), moves, q, v, dt)


def held_midpoint(
    parts: Parts, linearised: Called, integrate: Called, moves: Called, q: SX, v: SX, tau: SX, dt: SX
) -> Iteration:
    """The configuration (nq) and velocity (nv) after dt (s), on contacts."""
    return solved(parts, held(linearised, integrate, moves, q, v, tau, dt), integrate, q, v, dt)


def held_midpoint_derivatives(
    parts: Parts, linearised: Called, integrate: Called, moves: Called, q: SX, v: SX, tau: SX, dt: SX
) -> Iteration:
    """A (2 nv x 2 nv) and B (2 nv x nv) of the step, on contacts."""
    return differentiated(parts, held(linearised, integrate, moves, q, v, tau, dt), moves, q, v, dt)


def free(
    rnea: Called, rnea_derivatives: Called, integrate: Called, moves: Called, q: SX, v: SX, tau: SX, dt: SX
) -> Equation:
    """dt/2 (ID - tau) = 0."""

    def at(parts: Parts, w: SX) -> tuple[Result, ...]:
        half, one = dt / 2, SX.eye(v.size1())
        by_q, by_step = moves(q=q, dv=half * w)
        middle = {"q": integrate(q=q, dv=half * w)[0], "v": w, "a": (w - v) / half}
        Q, V, M = rnea_derivatives(parts, **middle)
        lack = half * (rnea(parts, **middle)[0] - tau)
        K = combined([(M, one), (V, half * one), (Q, half * half * by_step)])
        return K, lack, beside(combined([(Q, -dt * by_q)]), *scaled((M,), 2.0), dt * one)

    return at


def held(linearised: Called, integrate: Called, moves: Called, q: SX, v: SX, tau: SX, dt: SX) -> Equation:
    """w - v - dt/2 a = 0; z has w in the place of v while the dynamics are differentiated."""

    def at(parts: Parts, w: SX) -> tuple[Result, ...]:
        half, one = dt / 2, SX.eye(v.size1())
        by_q, by_step = moves(q=q, dv=half * w)
        a, da_dq, da_dv, da_dtau = linearised(parts, q=integrate(q=q, dv=half * w)[0], v=w, tau=tau)
        K = added(combined([(da_dq, -half * half * by_step), (da_dv, -half * one)]), one)
        by_z = beside(combined([(da_dq, dt * by_q)]), 2 * one, *scaled((da_dtau,), dt))
        return K, w - v - half * a, by_z

    return at


def solved(parts: Parts, equation: Equation, integrate: Called, q: SX, v: SX, dt: SX) -> Iteration:
    """Newton's method, and the end of the step."""
    return newton(parts, equation, v, lambda _, w: (integrate(q=q, dv=dt * w)[0], 2 * w - v))


def differentiated(parts: Parts, equation: Equation, moves: Called, q: SX, v: SX, dt: SX) -> Iteration:
    """Newton's method, and the derivatives at what it finds."""

    def finish(at: OfColumns, w: SX) -> tuple[BlockMatrix, BlockMatrix]:
        K, _, by_z = at(w)
        n, half = v.size1(), dt / 2
        dv_next = Solved(K, by_z, columns(n, None, -SX.eye(n), None))  # 2 dw - dv
        by_q, by_step = moves(q=q, dv=dt * w)
        return state_and_input(Product(half * by_step, dv_next, columns(n, by_q, half * by_step, None)), dv_next)

    return newton(parts, equation, v, finish)


def newton(parts: Parts, equation: Equation, v: SX, finish: Callable[[OfColumns, SX], tuple[Result, ...]]) -> Iteration:
    """Newton's method from v; the start is its first step."""
    once = parts.once(equation)

    def lacking(w: SX) -> tuple[SX, SX]:
        K, lack, _ = equation(parts, w)
        return parts.numbers(K), parts.numbers(lack)

    def moved(w: SX, plus: SX) -> SX:
        K, lack, _ = once(w)
        return parts.numbers(Solved(K, -parts.numbers(lack), plus))

    return Iteration(
        (moved(v, v),),
        lambda w: (moved(w, w),),
        lambda w: moved(w, 0 * w),
        lambda w: finish(once, w),
        lacking,
        v,
    )
