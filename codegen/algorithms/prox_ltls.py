"""proxLTLs: constrained forward dynamics by the LTL factorisation of the stiffened joint-space inertia matrix.

Sathya and Carpentier 2024 (hal-04443056), eq. 16 and 24: M + mu J'J by CRBA on link inertias H + mu K'K, factorised
once; then, until the rows are held, a = (M + mu J'J)^-1 (tau - C + J' (lam + mu s)) and lam+ = lam + mu (s - J a): the
augmented-Lagrangian method, O(n d^2 + m d). s is k less what rows see at zero accelerations, and C that of RNEA there,
where gravity enters as upward acceleration of the world. Spatial vectors [angular; linear] in body frames.
"""

from __future__ import annotations

from dataclasses import replace

from casadi import SX

from codegen.algorithms.crba import crba
from codegen.algorithms.rnea import inverse
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.iteration import Iteration
from codegen.recursions.motion import constraint_rhs, motions
from codegen.recursions.sweeps import stiffened
from codegen.recursions.tree import Tree
from codegen.spatial import ltdl, zeros


def prox_ltls(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    still = zeros(tree.nv)
    motion = motions(tree, v, still)
    s, JT = constraint_rhs(tree, motion, k), jacobian_transpose(tree)
    M = ltdl(crba(replace(tree, I=tuple(stiffened(tree, mu)))), tree.dof_parent)
    u = M.forward(tau - inverse(tree, motion, v, still, f_ext) + JT @ (lam0 + mu * s))

    def accelerations(u: SX) -> SX:
        return M.backward(M.scale(u))

    def lack(u: SX) -> SX:
        return s - JT.T @ accelerations(u)

    # one step: what the rows lack pushes, too; u are joint forces, those of outer joints eliminated
    def step(lam: SX, u: SX) -> tuple[SX, SX]:
        push = mu * lack(u)
        return lam + push, u + M.forward(JT @ push)

    def finish(lam: SX, u: SX) -> tuple[SX, SX]:
        a = accelerations(u)
        return a, lam + mu * (s - JT.T @ a)

    return Iteration((lam0, u), step, lambda _, u: lack(u), finish)
