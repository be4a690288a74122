"""proxLTL: constrained forward dynamics by the LTL factorisation and a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), eq. 13 (Carpentier, Budhiraja, Mansard, RSS 2021): the Delassus matrix by
LTL-OSIM, and (W + 1/mu) lam+ = missing + lam / mu. Gravity enters through the resting motion.
"""

from __future__ import annotations

from casadi import SX, diag, vertcat

from codegen.algorithms.crba import crba
from codegen.algorithms.delassus import jacobian_transpose
from codegen.algorithms.dual import proximal
from codegen.algorithms.iteration import Iteration
from codegen.algorithms.motion import resting, shortfall
from codegen.algorithms.rnea import inverse
from codegen.algorithms.rooted import Rooted, by_branches
from codegen.spatial import LTDL, ltdl, mirrored
from codegen.tree import Tree


def prox_ltl(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    a0, motion = resting(tree, v)
    M, Jt = ltdl(crba(tree), tree.dof_parent), jacobian_transpose(tree)
    Y = M.half(Jt)
    b = tau - inverse(tree, motion, a0, f_ext)
    missing = shortfall(tree, motion, k) - Y.T @ M.scale(M.half(b))
    return proximal(delassus(tree, M, Y), missing, mu, lam0, lambda lam: a0 + M.solve(b + Jt @ lam))


def delassus(tree: Tree, M: LTDL, Y: SX) -> Rooted:
    """W = Y' D^-1 Y; the roots' part apart."""
    scaled, dofs = M.scale(Y), {i: tree.dofs[i] for i in tree.support if tree.parent[i] < 0}
    beyond = [row for i in tree.support if tree.parent[i] >= 0 for row in range(*tree.dofs[i].indices(tree.nv))]
    W, L = mirrored(Y.T @ scaled), mirrored(Y[beyond, :].T @ scaled[beyond, :])
    roots = {i: (diag(vertcat(*[1 / pivot for pivot in M.d[rows]])), Y[rows, :]) for i, rows in dofs.items()}
    return by_branches(tree, W, L, roots)
