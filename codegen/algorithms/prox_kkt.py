"""Constrained forward dynamics by the sparse Cholesky factorisation of the proximal KKT matrix.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021. In every
iteration

    [ -1/mu  J ] [ -lam+ ]   [ s + lam / mu ]
    [  J'    M ] [  a    ] = [ tau - C      ]

is solved for both. With all constraints above the root of the tree, L' D L keeps the tree's sparsity: a joint's row has
entries at its ancestors and at constraints that load it. (There, mu multiplies the identity; here it is the penalty, as
in Sathya and Carpentier 2024, hal-04443056.) s is k less what rows see at zero accelerations, and C that of RNEA there,
where gravity enters as upward acceleration of the world. Spatial vectors [angular; linear] in body frames.
"""

from __future__ import annotations

from casadi import SX, blockcat, vertcat

from codegen.algorithms.crba import crba
from codegen.algorithms.rnea import inverse
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.iteration import Iteration
from codegen.recursions.motion import constraint_rhs, motions
from codegen.recursions.tree import Tree
from codegen.spatial import diagonal, ltdl, zeros


def prox_kkt(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    m, still = tree.m, zeros(tree.nv)
    motion = motions(tree, v, still)
    s, JT = constraint_rhs(tree, motion, k), jacobian_transpose(tree)
    parent = (*range(-1, m - 1), *(m + p if p >= 0 else m - 1 for p in tree.dof_parent))
    K = ltdl(blockcat([[-diagonal(1 / mu, m), JT.T], [JT, crba(tree)]]), parent)
    u = K.forward(vertcat(s, tau - inverse(tree, motion, v, still, f_ext)))

    # one step: the KKT system again, its damping undone by the last multipliers
    def step(lam: SX, *_: SX) -> tuple[SX, SX]:
        x = K.backward(K.scale(u + K.forward(vertcat(lam / mu, still))))
        return -x[:m], x[m:]

    return Iteration(step(lam0), step, lambda _, a: s - JT.T @ a, lambda lam, a: (a, lam))
