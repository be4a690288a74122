"""dexpinv: how fast the step from a fixed start must change for its end to move at a given velocity.

Munthe-Kaas, High order Runge-Kutta methods on manifolds, 1999: the step dv that leads from q to a configuration that
moves at velocity v changes at the rate dexpinv(dv) v, by the inverse of the exponential map's Jacobian, joint by joint.
Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, jacobian, substitute

from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def dexpinv(tree: Tree, dv: SX, v: SX) -> tuple[SX, SX, SX]:
    """The rate (nv) of the step dv at the velocity v of its end, and its derivatives by dv and v (nv x nv)."""
    step, velocity = SX.sym("dv", tree.nv), SX.sym("v", tree.nv)
    inverse = zeros(tree.nv, tree.nv)
    # joint by joint
    for part, own_step, own in zip(tree.parts, tree.rates(step), tree.model.v_slices, strict=True):
        if own.stop > own.start:
            inverse[own, own] = part.joint.difference_derivatives(own_step)[1]
    rate = inverse @ velocity
    found = substitute([rate, jacobian(rate, step), inverse], [step, velocity], [dv, v])
    return found[0], found[1], found[2]
