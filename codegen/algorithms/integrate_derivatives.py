"""Derivatives of steps on the configuration manifold, in the tangent coordinates (velocities) of their two ends.

Where q moves by d along its tangents and dv changes by e, the end moves by dq1_dq d + dq1_ddv e along its own. Blocks
of joints, by the Jacobians of their exponential maps (`codegen.joints`). Of joints that implicit loops tie, the
independent ones count. Equal to Pinocchio's dIntegrate by ARG0 and ARG1. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def integrate_derivatives(tree: Tree, dv: SX) -> tuple[SX, SX]:
    """dq1/dq and dq1/ddv (nv x nv) of the step by the constant velocity dv (nv) over unit time."""
    by_q, by_dv = zeros(tree.nv, tree.nv), zeros(tree.nv, tree.nv)
    # joint by joint
    for part, step, own in zip(tree.parts, tree.rates(dv), tree.model.v_slices, strict=True):
        if own.stop > own.start:
            by_q[own, own], by_dv[own, own] = part.joint.integrate_derivatives(step)
    return by_q, by_dv
