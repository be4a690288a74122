"""Derivatives of differences on the configuration manifold, in the tangent coordinates (velocities) of their two ends.

Blocks of joints, by the Jacobians of their logarithms (`codegen.joints`). Of joints that implicit loops tie, the
independent ones count. Equal to Pinocchio's dDifference by ARG0 and ARG1. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def difference_derivatives(tree: Tree, q1: SX) -> tuple[SX, SX]:
    """ddv/dq0 and ddv/dq1 (nv x nv) of the constant velocity dv that takes q to q1 in unit time."""
    by_q0, by_q1 = zeros(tree.nv, tree.nv), zeros(tree.nv, tree.nv)
    # joint by joint
    for part, end, own in zip(tree.parts, tree.positions(q1), tree.model.v_slices, strict=True):
        if own.stop > own.start:
            by_q0[own, own], by_q1[own, own] = part.joint.difference_derivatives(part.joint.difference(part.q, end))
    return by_q0, by_q1
