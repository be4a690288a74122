"""By-products of the sparse Cholesky factors of the proximal KKT matrix: the damped inverse Lam of the Delassus matrix,
and Lam J M^-1, which is the transpose of the dynamically consistent inverse of J (Khatib).

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021: they are the
first columns of the inverse of

    [ -1/mu  J ]      [ -Lam          Lam J M^-1                  ]
    [  J'    M ]^-1 = [ M^-1 J' Lam   M^-1 - M^-1 J' Lam J M^-1   ]

With all constraints above the root of the tree, M = L' D L comes first and keeps the tree's sparsity, as does Y =
L'^-1 J'; what is left of the constraints is -(1/mu + Y' D^-1 Y), whose inverse is symmetric, and M^-1 J' Lam is
L^-1 (D^-1 Y Lam). (There, mu multiplies the identity; here it is the penalty.) Gravity plays no part. Spatial vectors
[angular; linear] in body frames.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.crba import crba
from codegen.recursions.composition import INLINE, Parts
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.products import Product, Result, added, transposed
from codegen.recursions.tree import Tree
from codegen.spatial import diagonal, ltdl


def kkt_inverse(tree: Tree, mu: SX, parts: Parts = INLINE) -> tuple[Result, Result]:
    """(W + 1/mu)^-1 (m x m), symmetric, and its product with J M^-1 (m x nv), over the rows of all contacts."""
    M = ltdl(crba(tree), tree.dof_parent)
    Y = M.forward(jacobian_transpose(tree))
    scaled = M.scale(Y)
    W = Product(Y, scaled, transposed=True, symmetric=True)
    Lam = parts.factors(added(W, diagonal(1 / mu, tree.m))).inverse()
    half = Product(scaled, Lam)
    by_rows = Product(M.backward(SX.eye(tree.nv)), half) if parts.many(tree.m) else M.backward(parts.numbers(half))
    return Lam, transposed(by_rows)
