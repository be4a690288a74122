"""proxLTLs: constrained forward dynamics by the LTL factorisation of the stiffened inertia matrix.

Sathya and Carpentier 2024 (hal-04443056), eq. 16 and 24: M + mu J'J by CRBA over links with mu K'K added to their
inertias, factorised once; the multipliers follow lam+ = lam + mu (k - J a). Gravity enters through the resting motion.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.crba import composite
from codegen.algorithms.delassus import jacobian_transpose
from codegen.algorithms.iteration import Iteration
from codegen.algorithms.motion import resting, shortfall
from codegen.algorithms.rnea import inverse
from codegen.algorithms.sweeps import stiffened
from codegen.spatial import ltdl
from codegen.tree import Tree


def prox_ltls(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    a0, motion = resting(tree, v)
    s, b = shortfall(tree, motion, k), tau - inverse(tree, motion, a0, f_ext)
    M, Jt = ltdl(composite(tree, stiffened(tree, mu)), tree.dof_parent), jacobian_transpose(tree)
    y = M.solve(b + Jt @ (lam0 + mu * s))

    # one step: what the contacts still lack, pushed at once
    def step(lam: SX, y: SX) -> tuple[SX, SX]:
        push = mu * (s - Jt.T @ y)
        return lam + push, y + M.solve(Jt @ push)

    return Iteration((lam0, y), step, lambda lam, y: s - Jt.T @ y, lambda lam, y: (a0 + y, lam + mu * (s - Jt.T @ y)))
