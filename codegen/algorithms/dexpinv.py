"""dexpinv: how fast the step from a fixed start must change for its end to move at a given velocity.

Munthe-Kaas, High order Runge-Kutta methods on manifolds, 1999: where the step dv leads from q to a configuration that
moves at velocity v, it changes at the rate dexpinv(dv) v, a series of brackets with Bernoulli's numbers. Methods of
order 4 need no more than two of them (Hairer, Lubich, Wanner, Geometric Numerical Integration, theorem IV.8.4), here of
velocities in the axes that move: v + [dv, v] / 2 + [dv, [dv, v]] / 12, joint by joint. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, jacobian, substitute, vertcat

from codegen.recursions.tree import Tree


def dexpinv(tree: Tree, dv: SX, v: SX) -> tuple[SX, SX, SX]:
    """The rate (nv) of the step dv at the velocity v of its end, and its derivatives by dv and v (nv x nv)."""
    step, velocity = SX.sym("dv", tree.nv), SX.sym("v", tree.nv)
    rates = [SX(0, 1)]
    # joint by joint
    for part, u, own in zip(tree.parts, tree.rates(step), tree.model.v_slices, strict=True):
        if own.stop > own.start:
            bracket = part.joint.bracket(u, velocity[own])
            rates.append(velocity[own] + bracket / 2 + part.joint.bracket(u, bracket) / 12)
    rate = vertcat(*rates)
    found = substitute([rate, jacobian(rate, step), jacobian(rate, velocity)], [step, velocity], [dv, v])
    return found[0], found[1], found[2]
