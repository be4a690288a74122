"""By-products of the sparse Cholesky factors of the proximal KKT matrix: the damped inverse Lam of the Delassus matrix,
and Lam J M^-1, which is the transpose of the dynamically consistent inverse of J (Khatib).

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021: they are the
first columns of the inverse of

    [ -1/mu  J ]      [ -Lam          Lam J M^-1                  ]
    [  J'    M ]^-1 = [ M^-1 J' Lam   M^-1 - M^-1 J' Lam J M^-1   ]

With all constraints above the root of the tree, L' D L keeps the tree's sparsity, and unit columns of constraints stay
empty below until the sweep from the root. (There, mu multiplies the identity; here it is the penalty.) Gravity plays no
part. Spatial vectors [angular; linear] in body frames.
"""

from __future__ import annotations

from casadi import SX, blockcat, vertcat

from codegen.algorithms.crba import crba
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.tree import Tree
from codegen.spatial import diagonal, ltdl, mirrored


def kkt_inverse(tree: Tree, mu: SX) -> tuple[SX, SX]:
    """(W + 1/mu)^-1 (m x m), symmetric, and its product with J M^-1 (m x nv), over the rows of all contacts."""
    m, JT = tree.m, jacobian_transpose(tree)
    parent = (*range(-1, m - 1), *(m + p if p >= 0 else m - 1 for p in tree.dof_parent))
    K = ltdl(blockcat([[-diagonal(1 / mu, m), JT.T], [JT, crba(tree)]]), parent)
    columns = K.solve(vertcat(SX.eye(m), SX(tree.nv, m)))
    return mirrored(-columns[:m, :]), columns[m:, :].T
