"""proxLTL: constrained forward dynamics by the LTL factorisation and a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), eq. 13 (Carpentier, Budhiraja, Mansard, RSS 2021): the Delassus matrix by
LTL-OSIM, and (W + 1/mu) lam+ = missing + lam / mu, by the motions of joints that contacts share
(`codegen.algorithms.shared`). Gravity enters through the resting motion.
"""

from __future__ import annotations

from casadi import SX, diag, vertcat

from codegen.algorithms.crba import crba
from codegen.algorithms.delassus import jacobian_transpose
from codegen.algorithms.iteration import Iteration
from codegen.algorithms.motion import resting, shortfall
from codegen.algorithms.rnea import inverse
from codegen.algorithms.shared import Shared, proximal, split
from codegen.spatial import ltdl, mirrored
from codegen.tree import Tree


def prox_ltl(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    (a0, motion), (nodes, blocks) = resting(tree, v), split(tree)
    M = ltdl(crba(tree), tree.dof_parent)
    Y, u = M.half(jacobian_transpose(tree)), M.half(tau - inverse(tree, motion, a0, f_ext))
    both = tree.dofs_of(nodes)
    own = [dof for dof in tree.dofs_of(tree.support) if dof not in both]
    L, free = Y[own, :].T @ M.scale(Y)[own, :], Y[own, :].T @ M.scale(u)[own, :]
    D = diag(vertcat(SX(0, 1), *[M.d[dof] for dof in both]))
    system = Shared(mirrored(L), Y[both, :], D, u[both, :], shortfall(tree, motion, k) - free, blocks)

    def accelerations(lam: SX, nu: SX) -> SX:
        y = M.scale(u + Y @ lam)
        y[both] = nu
        return a0 + M.back(y)

    return proximal(system, mu, lam0, accelerations)
