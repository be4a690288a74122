"""proxLTL: constrained forward dynamics by the LTL factorisation and a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), eq. 13 (Carpentier, Budhiraja, Mansard, RSS 2021): the Delassus matrix W by
LTL-OSIM (`codegen.algorithms.ltl_osim`), W + 1/mu factorised once, and (W + 1/mu) lam+ = k - J a_free + lam / mu until
the rows are held; then a = M^-1 (tau - C + J' lam) by the factors of M. C is that of RNEA at zero accelerations, where
gravity enters as upward acceleration of the world. Spatial vectors [angular; linear] in body frames.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.crba import crba
from codegen.algorithms.rnea import inverse
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.iteration import Iteration
from codegen.recursions.motion import constraint_rhs, motions
from codegen.recursions.tree import Tree
from codegen.spatial import diagonal, ldl, ltdl, mirrored, zeros


def prox_ltl(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    still = zeros(tree.nv)
    motion = motions(tree, v, still)
    M = ltdl(crba(tree), tree.dof_parent)
    Y = M.forward(jacobian_transpose(tree))
    u = M.forward(tau - inverse(tree, motion, v, still, f_ext))
    W = mirrored(Y.T @ M.scale(Y))
    damped = ldl(W + diagonal(1 / mu, tree.m))
    s = constraint_rhs(tree, motion, k) - Y.T @ M.scale(u)

    # one step: the damped dual again, its damping undone by the last multipliers
    def step(lam: SX) -> tuple[SX]:
        return (damped.solve(s + lam / mu),)

    # at the end, the accelerations under these multipliers
    def finish(lam: SX) -> tuple[SX, SX]:
        return M.backward(M.scale(u + Y @ lam)), lam

    return Iteration(step(lam0), step, lambda lam: s - W @ lam, finish)
