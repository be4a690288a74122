"""The sparse proximal KKT Cholesky factorisation as published.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021: the matrix
[[-1/mu, J], [J', M]], all constraints above the root of the tree, factorised as L' D L without fill-in. Gravity enters
as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, blockcat, vertcat

from codegen.algorithms.published.crba import crba
from codegen.algorithms.published.ltl_osim import jacobian
from codegen.algorithms.published.rnea import rnea
from codegen.recursions.iteration import Iteration
from codegen.recursions.plain_tree import PlainTree, missing, motion
from codegen.spatial import diagonal, ltdl, zeros


def prox_kkt(robot: PlainTree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m)."""
    m, still, J = robot.tree.m, zeros(robot.tree.nv), jacobian(robot)
    s = missing(robot, motion(robot, v), k)
    parent = (*range(-1, m - 1), *(m + p if p >= 0 else m - 1 for p in robot.tree.dof_parent))
    K = ltdl(blockcat([[-diagonal(1 / mu, m), J], [J.T, crba(robot)]]), parent)
    u = K.forward(vertcat(s, tau - rnea(robot, v, still, f_ext)))

    # one step: the KKT system again, its damping undone by the last multipliers
    def step(lam: SX, *_: SX) -> tuple[SX, SX]:
        x = K.backward(K.scale(u + K.forward(vertcat(lam / mu, still))))
        return -x[:m], x[m:]

    return Iteration(step(lam0), step, lambda _, a: s - J @ a, lambda lam, a: (a, lam))
