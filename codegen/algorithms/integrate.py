"""Steps on the configuration manifold: the exponential map of every joint.

The step is a constant velocity over unit time; conventions of position, quaternion and velocity are the
joints' own (`codegen.joints`). Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.tree import Tree


def integrate(tree: Tree, dv: SX) -> SX:
    """The configuration (nq) that the constant velocity dv (nv) reaches from q in unit time."""
    steps = zip(tree.parts, tree.rates(dv), strict=True)
    return vertcat(*[part.joint.integrate(part.q, step) for part, step in steps])
