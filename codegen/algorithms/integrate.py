"""Steps on the configuration manifold: the exponential map of every joint.

The step is a constant velocity over unit time; conventions of position, quaternion and velocity are the
joints' own (`codegen.joints`). Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.errors import UnsuitedError
from codegen.tree import Tree


def integrate(tree: Tree, dv: SX) -> SX:
    """The configuration (nq) that the constant velocity dv (nv) reaches from q in unit time.

    UnsuitedError for a robot with implicit loops: a straight step leaves them open.
    """
    check_explicit(tree)
    steps = zip(tree.parts, tree.rates(dv), tree.positions(tree.q), strict=True)
    return vertcat(*[part.joint.integrate(part.q, step) for part, step, own in steps if own.nnz()])


def check_explicit(tree: Tree) -> None:
    """UnsuitedError if some positions are tied by implicit loops, so that they are no manifold of free steps."""
    if any(own.constraints.dependent for own in tree.spanning):
        raise UnsuitedError(
            f"{tree.model.name}: integrate and difference do not keep implicit loops closed; step q yourself and "
            "close it with project"
        )
