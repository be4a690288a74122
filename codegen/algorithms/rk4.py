"""RK4 on the configuration manifold: the classical Runge-Kutta method in the form of Munthe-Kaas. Order 4.

Munthe-Kaas, High order Runge-Kutta methods on manifolds, 1999: stages are q (+) u with steps u from the start of all,
whose rates are dexpinv(u) v. Without these rates the order is 2 where joints turn about more than one axis. Of other
joints it is the classical method. (+) is `integrate`; tau, external wrenches and what contacts want are constant over
the step (zero-order hold). Gravity is part of the dynamics.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.by_state import start, state_and_input
from codegen.recursions.composition import Called

STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))
"""Of every stage, how far it goes along the rates of the one before, and its weight in the end."""


def rk4(dynamics: Called, integrate: Called, dexpinv: Called, q: SX, v: SX, tau: SX, dt: SX) -> tuple[SX, SX]:
    """The configuration (nq) and velocity (nv) after dt (s)."""
    rate, a, step, change = v, 0 * v, 0 * v, 0 * v
    # stage by stage: rates at the configuration and velocity that those of the one before lead to
    for c, weight in STAGES:
        at, velocity = (q, v) if c == 0.0 else (integrate(q=q, dv=c * dt * rate)[0], v + c * dt * a)
        rate = velocity if c == 0.0 else dexpinv(q=q, dv=c * dt * rate, v=velocity)[0]
        a, *_ = dynamics(q=at, v=velocity, tau=tau)
        step, change = step + weight * rate, change + weight * a
    return integrate(q=q, dv=dt * step)[0], v + dt * change


def rk4_derivatives(
    linearised: Called,
    integrate: Called,
    integrate_derivatives: Called,
    dexpinv: Called,
    q: SX,
    v: SX,
    tau: SX,
    dt: SX,
) -> tuple[SX, SX]:
    """A (2 nv x 2 nv) and B (2 nv x nv) of the step: the chain rule, stage by stage."""
    dq0, dv0 = start(v)
    rate, drate, a, da = v, dv0, 0 * v, 0 * dv0
    step, dstep, dchange = 0 * v, 0 * dv0, 0 * dv0

    def moved(u: SX, du: SX) -> SX:
        by_q, by_u = integrate_derivatives(q=q, dv=u)
        return by_q @ dq0 + by_u @ du

    # stage by stage: the rates of `rk4`, and their derivatives
    for c, weight in STAGES:
        u, du, velocity, dv = c * dt * rate, c * dt * drate, v + c * dt * a, dv0 + c * dt * da
        if c == 0.0:
            at, dq, rate, drate = q, dq0, v, dv0
        else:
            at, dq = integrate(q=q, dv=u)[0], moved(u, du)
            rate, by_u, by_v = dexpinv(q=q, dv=u, v=velocity)
            drate = by_u @ du + by_v @ dv
        a, da = linearised(q=at, v=velocity, tau=tau, dq_dz=dq, dv_dz=dv)
        step, dstep, dchange = step + weight * rate, dstep + weight * drate, dchange + weight * da
    return state_and_input(moved(dt * step, dt * dstep), dv0 + dt * dchange)
