"""Semi-implicit (symplectic) Euler: v+ = v + dt a(q, v, tau), then q+ = q (+) dt v+. Order 1.

Hairer, Lubich, Wanner, Geometric Numerical Integration, sec. I.1; (+) is `integrate`, the exponential map of every
joint. tau, external wrenches and what contacts want are constant over the step (zero-order hold). Gravity is part of
the dynamics.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.by_state import start, state_and_input
from codegen.recursions.composition import Called


def semi_implicit_euler(dynamics: Called, integrate: Called, q: SX, v: SX, tau: SX, dt: SX) -> tuple[SX, SX]:
    """The configuration (nq) and velocity (nv) after dt (s)."""
    a, *_ = dynamics(q=q, v=v, tau=tau)
    v_next = v + dt * a
    return integrate(q=q, dv=dt * v_next)[0], v_next


def semi_implicit_euler_derivatives(
    linearised: Called, integrate_derivatives: Called, q: SX, v: SX, tau: SX, dt: SX
) -> tuple[SX, SX]:
    """A (2 nv x 2 nv) and B (2 nv x nv) of the step."""
    dq, dv = start(v)
    a, da = linearised(q=q, v=v, tau=tau, dq_dz=dq, dv_dz=dv)
    v_next, dv_next = v + dt * a, dv + dt * da
    by_q, by_step = integrate_derivatives(q=q, dv=dt * v_next)
    return state_and_input(by_q @ dq + dt * (by_step @ dv_next), dv_next)
