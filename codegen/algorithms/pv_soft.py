"""PV-soft: forward dynamics with constraints relaxed by a quadratic penalty, in one ABA.

Sathya and Carpentier 2024 (hal-04443056), sec. V: the soft Gauss principle, link inertias H + K' R^-1 K and forces
K' R^-1 k; one iteration of constrainedABA from zero multipliers: O(n + m). Gravity enters through the bias motion.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.constrained_aba import constrained_aba
from codegen.recursions.tree import Tree


def pv_soft(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX) -> tuple[SX, ...]:
    """Joint accelerations (nv) and multipliers lam = (k - contact acceleration) / R (m), for softness R > 0 (m)."""
    return constrained_aba(tree, v, tau, f_ext, k, 1 / R, SX(tree.m, 1)).unrolled(1)
