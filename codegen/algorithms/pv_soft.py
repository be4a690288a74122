"""PV-soft: forward dynamics with constraints relaxed by a quadratic penalty, in one ABA.

Sathya and Carpentier 2024 (hal-04443056), sec. V: the soft Gauss principle, link inertias H + K' R^-1 K and forces
K' R^-1 k; one iteration of constrainedABA from zero multipliers: O(n + m). Gravity enters through the bias motion.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.constrained_aba import constrained_aba
from codegen.recursions.reduced_problem import Nodes, Solution
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def pv_soft(tree: Tree, p: list[SX], tau: Nodes, s: SX, R: SX) -> Solution:
    """Accelerations of joints and bodies (by nodes) and multipliers lam = (s - J y) / R (m), for softness R > 0 (m)."""
    return constrained_aba(tree, p, tau, s, 1 / R, zeros(tree.m)).unrolled(1)
