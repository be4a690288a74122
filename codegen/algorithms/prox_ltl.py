"""proxLTL: constrained forward dynamics by the LTL factorisation and a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), eq. 13 (Carpentier, Budhiraja, Mansard, RSS 2021): the Delassus matrix by
LTL-OSIM, and (W + 1/mu) lam+ = missing + lam / mu, by the motions of joints that contacts share
(`codegen.algorithms.shared`), without the joints that contacts lead (`codegen.algorithms.led`). Gravity enters through
the resting motion.
"""

from __future__ import annotations

from casadi import SX, diag, vertcat

from codegen.algorithms.crba import crba
from codegen.algorithms.delassus import jacobian_transpose
from codegen.algorithms.iteration import Iteration
from codegen.algorithms.leading import Found, Rest, held_in_steps
from codegen.algorithms.shared import Shared, proximal, split
from codegen.spatial import ltdl, mirrored
from codegen.tree import Tree


def prox_ltl(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    return held_in_steps(tree, v, tau, f_ext, k, mu, lam0, factorised)


def factorised(rest: Rest, mu: SX, lam0: SX) -> Iteration:
    """The iteration on what is left."""
    tree, (nodes, blocks) = rest.tree, split(rest.tree)
    M = ltdl(crba(tree), tree.dof_parent)
    Y, u = M.half(jacobian_transpose(tree)), M.half(rest.bias())
    both = tree.dofs_of(nodes)
    own = [dof for dof in tree.dofs_of(tree.support) if dof not in both]
    L, free = Y[own, :].T @ M.scale(Y)[own, :], Y[own, :].T @ M.scale(u)[own, :]
    D = diag(vertcat(SX(0, 1), *[M.d[dof] for dof in both]))
    system = Shared(mirrored(L), Y[both, :], D, u[both, :], rest.s - free, blocks)

    def finish(lam: SX, nu: SX) -> Found:
        y = M.scale(u + Y @ lam)
        y[both] = nu
        return rest.by_nodes(M.back(y), lam)

    return proximal(system, mu, lam0, finish)
