"""Derivatives of constrained dynamics by the implicit function theorem, in one place for all algorithms.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021, sec. IV: the
solution makes ID(q, v, a) = tau + J' lam and the rows' lack c(q, v, a) vanish, so that

    M da - J' dlam = dtau - (dID - d(J' lam)),    J da = dc    (dID, d(J' lam), dc at constant a and lam),

by M^-1 = L' D^-1 L and the inverse of W = J M^-1 J' = Y' D^-1 Y, Y = L J'. Columns by q are along joints' tangents.
Where rows depend on each other, multipliers and their derivatives are those that the proximal iteration settles at;
rows must not contradict one another, as c does not vanish then. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from casadi import SX, densify, horzcat, jacobian, substitute, vertcat

from codegen.algorithms.crba import crba
from codegen.algorithms.minverse import inverse_factors
from codegen.algorithms.rnea import rnea
from codegen.algorithms.rnea_derivatives import rnea_derivatives
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.motion import constraint_rhs, motions
from codegen.recursions.products import Product, Result
from codegen.recursions.spanning_rates import node_rates
from codegen.recursions.tangents import by_tau
from codegen.recursions.tree import Tree
from codegen.spatial import LDL, diagonal, ldl, ltdl, mirrored, semidefinite_ldl, zeros

Derivatives = tuple[Result, Result, Result, Result, Result, Result]
Solve = Callable[[SX], SX]
STEPS = 6  # of the proximal iteration: the damping of the first is undone to its sixth power


class Dual(NamedTuple):
    """The matrix W of the dual problem: how to solve with it, and the negative of its inverse."""

    solve: Solve
    negative: Callable[[], Result]


class Changes(NamedTuple):
    """The solution's a, and changes of the equations at constant a and lam: R (nv x nv) and c (m x nv) by q and v."""

    a: SX
    R_q: SX
    R_v: SX
    c_q: SX
    c_v: SX


def direct_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX) -> Derivatives:
    """da/dq, da/dv, da/dtau (nv x nv) and dlam/dq, dlam/dv, dlam/dtau (m x nv) where contacts' rows are independent."""
    return derivatives(tree, v, tau, f_ext, k, direct)


def proximal_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Derivatives:
    """The same of the solution that the proximal iteration settles at, whatever multipliers it starts from."""
    del lam0
    return derivatives(tree, v, tau, f_ext, k, proximal(tree, mu))


def soft_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX) -> Derivatives:
    """The same for rows of softness R: R lam is what they lack."""
    return derivatives(tree, v, tau, f_ext, k, soft(tree, R))


def direct_linearised(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, dq_dz: SX, dv_dz: SX) -> tuple[SX, SX]:
    """a and da/dz (nv x 3 nv) where q and v change with z, of which the last third is tau; of independent rows."""
    return linearised(tree, v, tau, f_ext, k, direct, dq_dz, dv_dz)


def proximal_linearised(
    tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX, dq_dz: SX, dv_dz: SX
) -> tuple[SX, SX]:
    """The same of the solution that the proximal iteration settles at, whatever multipliers it starts from."""
    del lam0
    return linearised(tree, v, tau, f_ext, k, proximal(tree, mu), dq_dz, dv_dz)


def soft_linearised(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX, dq_dz: SX, dv_dz: SX) -> tuple[SX, SX]:
    """The same for rows of softness R."""
    return linearised(tree, v, tau, f_ext, k, soft(tree, R), dq_dz, dv_dz)


def direct(W: SX) -> Dual:
    """W itself."""
    return solved(semidefinite_ldl(W))


def proximal(tree: Tree, mu: SX) -> Callable[[SX], Dual]:
    """W as the proximal iteration settles."""
    return lambda W: settled(ldl(W + diagonal(1 / mu, tree.m)), 1 / mu)


def soft(tree: Tree, R: SX) -> Callable[[SX], Dual]:
    """W + R."""
    return lambda W: solved(ldl(W + diagonal(R, tree.m)))


def solved(factors: LDL) -> Dual:
    """A matrix by its factors."""
    return Dual(factors.solve, lambda: -mirrored(factors.solve(SX.eye(factors.size))))


def settled(damped: LDL, damping: SX) -> Dual:
    """W by the factors of W + damping, which the steps of the proximal iteration undo."""
    D = diagonal(damping, damped.size)

    def solve(B: SX) -> SX:
        X = damped.solve(B)
        for _ in range(STEPS - 1):
            X = damped.solve(B + D @ X)
        return X

    def negative() -> Result:
        first = mirrored(damped.solve(SX.eye(damped.size)))
        undone, last = D @ first, -first
        X: Result = last
        for _ in range(STEPS - 1):
            X = Product(X, undone, last)
        return X

    return Dual(solve, negative)


def equations(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX, a: SX, lam: SX) -> SX:
    """What the solution makes vanish: ID - tau - J' lam (nv), and what rows of softness R lack (m)."""
    lack = constraint_rhs(tree, motions(tree, v, a), k) - R * lam
    return vertcat(rnea(tree, v, a, f_ext) - tau - jacobian_transpose(tree) @ lam, lack)


def derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, dual: Callable[[SX], Dual]) -> Derivatives:
    """The derivatives by q, v and tau for a way to solve with W (m x m), as products with inverses."""
    M, J = inverse_factors(tree), jacobian_transpose(tree).T
    Y = M.L @ J.T
    scaled_Y, scaled_L = M.scaled(Y), M.scaled(M.L)
    W = dual(mirrored(Y.T @ scaled_Y))
    by = changes(tree, v, tau, f_ext, k, J, M.solve, W.solve)
    # the inverse of the matrix of the equations above: da and -dlam by dtau and dc
    response, negative = Product(scaled_Y, M.L, transposed=True), W.negative()
    lam_tau = Product(negative, response)
    Minv = Product(M.L, scaled_L, transposed=True, symmetric=True)
    a_tau = Product(response, lam_tau, Minv, transposed=True, symmetric=True)
    pairs = ((by.R_q, by.c_q), (by.R_v, by.c_v))
    a_q, a_v = (Product(a_tau, R, Product(lam_tau, -c, transposed=True)) for R, c in pairs)
    lam_q, lam_v = (Product(lam_tau, R, Product(negative, -c)) for R, c in pairs)
    return a_q, a_v, a_tau, lam_q, lam_v, lam_tau


def linearised(
    tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, dual: Callable[[SX], Dual], dq_dz: SX, dv_dz: SX
) -> tuple[SX, SX]:
    """a and da/dz (nv x 3 nv) where q and v change with z, of which the last third is tau, by factors of M and W."""
    M, J = ltdl(crba(tree), tree.dof_parent), jacobian_transpose(tree).T
    response = M.solve(J.T).T
    W = dual(mirrored(response @ J.T))
    by = changes(tree, v, tau, f_ext, k, J, M.solve, W.solve)
    B = M.solve(by.R_q @ dq_dz + by.R_v @ dv_dz + by_tau(tree.nv))
    dlam = W.solve(by.c_q @ dq_dz + by.c_v @ dv_dz - J @ B)
    return by.a, B + response.T @ dlam


def changes(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, J: SX, of_M: Solve, of_W: Solve) -> Changes:
    """The solution, and how its equations change, by ways to solve with M and W."""
    still = zeros(tree.nv)
    free = of_M(tau - rnea(tree, v, still, f_ext))
    lam = of_W(constraint_rhs(tree, motions(tree, v, still), k) - J @ free)
    a = free + of_M(J.T @ lam)
    Q, V, _ = rnea_derivatives(tree, v, a, f_ext)
    along, forces = partial(along_tangents, tree, v), SX.sym("lam", tree.m)
    pull = substitute(along(J.T @ forces), forces, densify(lam))
    return Changes(a, pull - Q, -V, *lacking(tree, v, k, a, along))


def lacking(tree: Tree, v: SX, k: SX, a: SX, along: Callable[[SX], SX]) -> tuple[SX, SX]:
    """Derivatives by q and v (m x nv) of what contacts' rows lack at a constant acceleration a."""
    constant = SX.sym("a", tree.nv)
    c = constraint_rhs(tree, motions(tree, v, constant), k)
    a = densify(a)
    return substitute(along(c), constant, a), substitute(jacobian(c, v), constant, a)


def along_tangents(tree: Tree, v: SX, expression: SX) -> SX:
    """The derivative of an expression (c) by q, along the tangents of all joints (c x nv)."""
    columns = [jacobian(expression, own.x) @ own.Tx for own in node_rates(tree, v)]
    return horzcat(*columns)
