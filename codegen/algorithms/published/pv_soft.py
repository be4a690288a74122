"""PV-soft as published: one ABA with constraints relaxed by a quadratic penalty.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676); Sathya and Carpentier 2024 (hal-04443056), sec. VII.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.published.constrained_aba import constrained_aba
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import zeros


def pv_soft(robot: PlainTree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX) -> tuple[SX, SX]:
    """Joint accelerations (nv) and multipliers (m), for softness R > 0 (m)."""
    a, lam = constrained_aba(robot, v, tau, f_ext, k, 1 / R, zeros(robot.tree.m)).unrolled(1)
    return a, lam
