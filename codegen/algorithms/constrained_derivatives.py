"""Derivatives of constrained dynamics by the implicit function theorem, in one place for all algorithms.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021, sec. IV: the
solution makes ID(q, v, a) = tau + J' lam and the rows' lack c(q, v, a) vanish, so that

    M da - J' dlam = dtau - (dID - d(J' lam)),    J da = dc    (dID, d(J' lam), dc at constant a and lam),

with the factors of M and of W = J M^-1 J' that the solution takes, too. Columns by q are along the tangents of joints.
Where rows depend on each other, multipliers and their derivatives are those that the proximal iteration settles at;
rows must not contradict one another, as c does not vanish then. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from casadi import SX, horzcat, jacobian, substitute

from codegen.algorithms.crba import crba
from codegen.algorithms.rnea import rnea
from codegen.algorithms.rnea_derivatives import rnea_derivatives
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.motion import constraint_rhs, motions
from codegen.recursions.spanning_rates import node_rates
from codegen.recursions.tangents import by_tau, start
from codegen.recursions.tree import Tree
from codegen.spatial import LDL, diagonal, ldl, ltdl, mirrored, semidefinite_ldl, zeros

Derivatives = tuple[SX, SX, SX, SX, SX, SX]
Linear = tuple[SX, SX, SX, SX]
Dual = Callable[[SX], Callable[[SX], SX]]
"""A way to solve with W (m x m)."""

STEPS = 6  # of the proximal iteration: the damping of the first is undone to its sixth power


def direct_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX) -> Derivatives:
    """da/dq, da/dv, da/dtau (nv x nv) and dlam/dq, dlam/dv, dlam/dtau (m x nv) where contacts' rows are independent."""
    return by_state(tree, v, tau, f_ext, k, direct)


def proximal_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Derivatives:
    """The same of the solution that the proximal iteration settles at, whatever multipliers it starts from."""
    del lam0
    return by_state(tree, v, tau, f_ext, k, proximal(tree, mu))


def soft_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX) -> Derivatives:
    """The same for rows of softness R: R lam is what they lack."""
    return by_state(tree, v, tau, f_ext, k, soft(tree, R))


def direct_linearised(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, dq_dz: SX, dv_dz: SX) -> tuple[SX, SX]:
    """a and da/dz (nv x 3 nv) where q and v change with z, of which the last third is tau; of independent rows."""
    a, da, *_ = linearised(tree, v, tau, f_ext, k, direct, dq_dz, dv_dz)
    return a, da


def proximal_linearised(
    tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX, dq_dz: SX, dv_dz: SX
) -> tuple[SX, SX]:
    """The same of the solution that the proximal iteration settles at, whatever multipliers it starts from."""
    del lam0
    a, da, *_ = linearised(tree, v, tau, f_ext, k, proximal(tree, mu), dq_dz, dv_dz)
    return a, da


def soft_linearised(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX, dq_dz: SX, dv_dz: SX) -> tuple[SX, SX]:
    """The same for rows of softness R."""
    a, da, *_ = linearised(tree, v, tau, f_ext, k, soft(tree, R), dq_dz, dv_dz)
    return a, da


def direct(W: SX) -> Callable[[SX], SX]:
    """Solves with W itself."""
    return semidefinite_ldl(W).solve


def proximal(tree: Tree, mu: SX) -> Dual:
    """Solves with W as the proximal iteration does."""
    return lambda W: partial(settled, ldl(W + diagonal(1 / mu, tree.m)), 1 / mu)


def soft(tree: Tree, R: SX) -> Dual:
    """Solves with W + R."""
    return lambda W: ldl(W + diagonal(R, tree.m)).solve


def settled(damped: LDL, damping: SX, B: SX) -> SX:
    """W^+ B by the factors of W + damping, which the steps of the proximal iteration undo."""
    X = damped.solve(B)
    for _ in range(STEPS - 1):
        X = damped.solve(B + diagonal(damping, B.size1()) @ X)
    return X


def by_state(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, dual: Dual) -> Derivatives:
    """The derivatives by q, v and tau, for a way to solve with W."""
    n = tree.nv
    _, da, _, dlam = linearised(tree, v, tau, f_ext, k, dual, *start(v))
    return da[:, :n], da[:, n : 2 * n], da[:, 2 * n :], dlam[:, :n], dlam[:, n : 2 * n], dlam[:, 2 * n :]


def linearised(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, dual: Dual, dq_dz: SX, dv_dz: SX) -> Linear:
    """a, da/dz (nv x 3 nv), lam and dlam/dz (m x 3 nv) where q and v change with z, of which the last third is tau."""
    M, JT, still = ltdl(crba(tree), tree.dof_parent), jacobian_transpose(tree), zeros(tree.nv)
    response = M.solve(JT)
    solve = dual(mirrored(JT.T @ response))
    free = M.solve(tau - rnea(tree, v, still, f_ext))
    lam = solve(constraint_rhs(tree, motions(tree, v, still), k) - JT.T @ free)
    a = free + response @ lam
    Q, V, _ = rnea_derivatives(tree, v, a, f_ext)
    along = partial(along_tangents, tree, v)
    c_q, c_v = lacking(tree, v, k, a, along)
    forces = SX.sym("lam", tree.m)
    pull = substitute(along(JT @ forces), forces, lam)
    B = M.solve((pull - Q) @ dq_dz - V @ dv_dz + by_tau(tree.nv))
    dlam = solve(c_q @ dq_dz + c_v @ dv_dz - JT.T @ B)
    return a, B + response @ dlam, lam, dlam


def lacking(tree: Tree, v: SX, k: SX, a: SX, along: Callable[[SX], SX]) -> tuple[SX, SX]:
    """Derivatives by q and v (m x nv) of what contacts' rows lack at a constant acceleration a."""
    constant = SX.sym("a", tree.nv)
    c = constraint_rhs(tree, motions(tree, v, constant), k)
    return substitute(along(c), constant, a), substitute(jacobian(c, v), constant, a)


def along_tangents(tree: Tree, v: SX, expression: SX) -> SX:
    """The derivative of an expression (c) by q, along the tangents of all joints (c x nv)."""
    columns = [jacobian(expression, own.x) @ own.Tx for own in node_rates(tree, v)]
    return horzcat(*columns)
