"""Semi-implicit (symplectic) Euler: v+ = v + dt a(q, v, tau), then q+ = q (+) dt v+. Order 1.

Hairer, Lubich, Wanner, Geometric Numerical Integration, sec. I.1; (+) is `integrate`, the exponential map of every
joint. tau, external wrenches and what contacts want are constant over the step (zero-order hold). Gravity is part of
the dynamics.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.block_matrix import BlockMatrix, beside
from codegen.recursions.by_state import state_and_input
from codegen.recursions.composition import Called
from codegen.recursions.products import Product, added
from codegen.recursions.scaling import scaled


def semi_implicit_euler(dynamics: Called, integrate: Called, q: SX, v: SX, tau: SX, dt: SX) -> tuple[SX, SX]:
    """The configuration (nq) and velocity (nv) after dt (s)."""
    a, *_ = dynamics(q=q, v=v, tau=tau)
    v_next = v + dt * a
    return integrate(q=q, dv=dt * v_next)[0], v_next


def semi_implicit_euler_derivatives(
    linearised: Called, integrate_derivatives: Called, q: SX, v: SX, tau: SX, dt: SX
) -> tuple[BlockMatrix, BlockMatrix]:
    """A (2 nv x 2 nv) and B (2 nv x nv) of the step."""
    a, *da = linearised(q=q, v=v, tau=tau)
    by_q, by_v, by_tau = scaled(da, dt)
    dv_next = by_q, added(by_v, SX.eye(v.size1())), by_tau
    from_q, from_step = integrate_derivatives(q=q, dv=dt * (v + dt * a))
    from_dv = dt * from_step
    dq_next = (Product(from_dv, dv, plus) for dv, plus in zip(dv_next, (from_q, None, None), strict=True))
    return state_and_input(beside(*dq_next), beside(*dv_next))
