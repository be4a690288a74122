"""Constrained forward dynamics by the sparse proximal Cholesky factorisation of the KKT matrix.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021: factorise
[[-1/mu, J], [J', M]] with constraints above the joints that they load, so that the joints' rows keep the tree's
sparsity: there all at the root, here each above the joints that it alone loads, if they can follow it. (There, mu
multiplies the identity; here it is the penalty, as in the 2024 paper.) Joints that contacts lead are left out
beforehand (`codegen.algorithms.led`). Gravity enters through the resting motion.
"""

from __future__ import annotations

from casadi import SX, horzcat, vertcat

from codegen.algorithms.crba import crba
from codegen.algorithms.delassus import jacobian_transpose
from codegen.algorithms.iteration import Iteration
from codegen.algorithms.leading import Rest, held_in_steps
from codegen.spatial import diagonal, ltdl_above, nested
from codegen.tree import Tree


def prox_kkt(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    return held_in_steps(tree, v, tau, f_ext, k, mu, lam0, factorised)


def factorised(rest: Rest, mu: SX, lam0: SX) -> Iteration:
    """The iteration on what is left."""
    tree, m = rest.tree, rest.tree.m
    s, b, Jt = rest.s, rest.bias(), jacobian_transpose(tree)
    KKT = vertcat(horzcat(diagonal(-1 / mu, m), Jt.T), horzcat(Jt, crba(tree)))
    order, pattern = nested(tree.dof_parent, Jt, _below(tree))
    factors, back = ltdl_above(KKT[order, order], pattern), [order.index(row) for row in range(len(order))]

    # one step: the KKT system again, its damping undone by the last multipliers
    def step(lam: SX, y: SX) -> tuple[SX, SX]:
        solution = factors.solve(vertcat(s + lam / mu, b)[order])[back]
        return -solution[:m], solution[m:]

    return Iteration(step(lam0, b), step, lambda lam, y: s - Jt.T @ y, lambda lam, y: rest.by_nodes(y, lam))


def _below(tree: Tree) -> dict[int, int]:
    """By rows, the first joint that their contact alone loads; left out where those joints have too few freedoms."""
    below = {}
    for contact in tree.contacts:
        others = {i for other in tree.contacts if other is not contact for i in tree.path(other.node)}
        own = [i for i in tree.path(contact.node) if i not in others]
        if sum(tree.S[i].size for i in own) >= min(6, contact.size):
            below.update(dict.fromkeys(range(contact.rows.start, contact.rows.stop), tree.dofs[own[-1]].start))
    return below
