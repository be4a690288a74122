"""Constrained forward dynamics by the sparse proximal Cholesky factorisation of the KKT matrix.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021: factorise
[[-1/mu, J], [J', M]] with the constraints at the root of the tree, so that the joints' rows keep its sparsity. (There,
mu multiplies the identity; here it is the penalty, as in the 2024 paper.) Gravity enters through the resting motion.
"""

from __future__ import annotations

from casadi import SX, horzcat, vertcat

from codegen.algorithms.crba import crba
from codegen.algorithms.delassus import jacobian_transpose
from codegen.algorithms.iteration import Iteration
from codegen.algorithms.motion import resting, shortfall
from codegen.algorithms.rnea import inverse
from codegen.spatial import above, diagonal, ltdl_above
from codegen.tree import Tree


def prox_kkt(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    (a0, motion), m = resting(tree, v), tree.m
    s, b, Jt = shortfall(tree, motion, k), tau - inverse(tree, motion, a0, f_ext), jacobian_transpose(tree)
    KKT = vertcat(horzcat(diagonal(-1 / mu, m), Jt.T), horzcat(Jt, crba(tree)))
    factors = ltdl_above(KKT, above(tree.dof_parent, Jt))

    # one step: the KKT system again, its damping undone by the last multipliers
    def step(lam: SX, y: SX) -> tuple[SX, SX]:
        solution = factors.solve(vertcat(s + lam / mu, b))
        return -solution[:m], solution[m:]

    return Iteration(step(lam0, b), step, lambda lam, y: s - Jt.T @ y, lambda lam, y: (a0 + y, lam))
