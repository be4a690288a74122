"""By-products of the sparse Cholesky factors of the proximal KKT matrix, as published.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021: the first
columns of the inverse of [[-1/mu, J], [J', M]] are -Lam, with the damped inverse Lam of the Delassus matrix, and
M^-1 J' Lam. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, blockcat, vertcat

from codegen.algorithms.published.crba import crba
from codegen.algorithms.published.ltl_osim import jacobian
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import diagonal, ltdl, mirrored


def kkt_inverse(robot: PlainTree, mu: SX) -> tuple[SX, SX]:
    """(W + 1/mu)^-1 (m x m), symmetric, and its product with J M^-1 (m x nv), over the rows of all contacts."""
    m, J = robot.tree.m, jacobian(robot)
    parent = (*range(-1, m - 1), *(m + p if p >= 0 else m - 1 for p in robot.tree.dof_parent))
    K = ltdl(blockcat([[-diagonal(1 / mu, m), J], [J.T, crba(robot)]]), parent)
    columns = K.solve(vertcat(SX.eye(m), SX(robot.tree.nv, m)))
    return mirrored(-columns[:m, :]), columns[m:, :].T
