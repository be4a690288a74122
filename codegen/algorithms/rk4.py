"""RK4 on the configuration manifold: the classical Runge-Kutta method in the form of Munthe-Kaas. Order 4.

Munthe-Kaas, High order Runge-Kutta methods on manifolds, 1999: stages are q (+) u with steps u from the start of all,
whose rates are dexpinv(u) v. Without these rates the order is 2 where joints turn about more than one axis. Of other
joints it is the classical method. (+) is `integrate`; tau, external wrenches and what contacts want are constant over
the step (zero-order hold). Gravity is part of the dynamics.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.block_matrix import BlockMatrix, beside
from codegen.recursions.by_state import by_tau, start, state_and_input
from codegen.recursions.composition import Called, Parts
from codegen.recursions.products import Result, combined

STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))
"""Of every stage, how far it goes along the rates of the one before, and its weight in the end."""


def rk4(
    parts: Parts, dynamics: Called, integrate: Called, dexpinv: Called, q: SX, v: SX, tau: SX, dt: SX
) -> tuple[SX, SX]:
    """The configuration (nq) and velocity (nv) after dt (s)."""
    accelerations = parts.once(lambda within, q, v: dynamics(within, q=q, v=v, tau=tau)[:1])
    rate, a, step, change = v, 0 * v, 0 * v, 0 * v
    # stage by stage: rates at the configuration and velocity that those of the one before lead to
    for c, weight in STAGES:
        at, velocity = (q, v) if c == 0.0 else (integrate(q=q, dv=c * dt * rate)[0], v + c * dt * a)
        rate = velocity if c == 0.0 else dexpinv(q=q, dv=c * dt * rate, v=velocity)[0]
        (a,) = accelerations(at, velocity)
        step, change = step + weight * rate, change + weight * a
    return integrate(q=q, dv=dt * step)[0], v + dt * change


def rk4_derivatives(
    parts: Parts,
    linearised: Called,
    integrate: Called,
    integrate_derivatives: Called,
    dexpinv: Called,
    q: SX,
    v: SX,
    tau: SX,
    dt: SX,
) -> tuple[BlockMatrix, BlockMatrix]:
    """A (2 nv x 2 nv) and B (2 nv x nv) of the step: the chain rule, stage by stage."""
    dynamics = parts.once(lambda within, q, v: linearised(within, q=q, v=v, tau=tau))
    (dq0, dv0), one, dtau = start(v), SX.eye(v.size1()), by_tau(v.size1())

    def moved(u: SX, ratio: SX, rates: Result) -> Result:
        by_q, by_u = integrate_derivatives(q=q, dv=u)
        return combined([(by_q, dq0), (ratio * by_u, rates)])

    # at the start itself
    a, *by_state = dynamics(q, v)
    drate: Result = dv0
    da: Result = beside(*by_state)
    rate, weight = v, STAGES[0][1]
    step, dstep, dchange = weight * rate, [(weight * one, drate)], [(weight * one, da)]
    # stage by stage: the rates of `rk4`, and their derivatives
    for c, weight in STAGES[1:]:
        u, velocity, dv = c * dt * rate, v + c * dt * a, combined([(one, dv0), (c * dt * one, da)])
        dq = moved(u, c * dt, drate)
        rate, by_u, by_v = dexpinv(q=q, dv=u, v=velocity)
        drate = combined([(c * dt * by_u, drate), (by_v, dv)])
        a, *by_state = dynamics(integrate(q=q, dv=u)[0], velocity)
        da = combined([*zip(by_state, (dq, dv, dtau), strict=True)])
        step += weight * rate
        dstep.append((weight * one, drate))
        dchange.append((weight * one, da))
    ends = combined(dstep), combined([(one, dv0), (dt * one, combined(dchange))])
    return state_and_input(moved(dt * step, dt, ends[0]), ends[1])
