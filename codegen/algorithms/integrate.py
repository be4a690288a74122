"""Steps on the configuration manifold: the exponential map of every joint.

The step is a constant velocity over unit time; conventions of position, quaternion and velocity are the
joints' own (`codegen.joints`). Implicit loops, which a straight step opens, are closed again (`project`); where that
finds no solution, the status tells. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.algorithms.project import closed
from codegen.recursions.tree import Tree


def integrate(tree: Tree, dv: SX) -> SX:
    """The configuration (nq) that the constant velocity dv (nv) reaches from q in unit time."""
    return closed(tree, straight(tree, dv), told=True)[0]


def straight(tree: Tree, dv: SX) -> SX:
    """The same where implicit loops stay open."""
    steps = zip(tree.parts, tree.rates(dv), tree.positions(tree.q), strict=True)
    return vertcat(*[part.joint.integrate(part.q, step) for part, step, own in steps if own.nnz()])
