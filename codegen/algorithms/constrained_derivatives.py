"""Derivatives of constrained dynamics by the implicit function theorem, in one place for all algorithms.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021, sec. IV: the
solution makes ID(q, v, a) = tau + J' lam and the rows' lack c(q, v, a) vanish, so that

    M da - J' dlam = dtau - (dID - d(J' lam)),    J da = dc    (dID, d(J' lam), dc at constant a and lam),

by M^-1 and the inverse of W = J M^-1 J'. Columns by q are along the tangents of joints.
Where rows depend on each other, multipliers and their derivatives are those that the proximal iteration settles at;
rows must not contradict one another, as c does not vanish then. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from casadi import SX, densify, horzcat, jacobian, substitute

from codegen.algorithms.minverse import minverse
from codegen.algorithms.rnea import rnea
from codegen.algorithms.rnea_derivatives import rnea_derivatives
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.motion import constraint_rhs, motions
from codegen.recursions.products import Product, Result
from codegen.recursions.spanning_rates import node_rates
from codegen.recursions.tree import Tree
from codegen.spatial import LDL, diagonal, ldl, mirrored, semidefinite_ldl, zeros

Derivatives = tuple[Result, Result, Result, Result, Result, Result]
STEPS = 6  # of the proximal iteration: the damping of the first is undone to its sixth power


class Dual(NamedTuple):
    """The matrix W of the dual problem: how to solve with it, and its inverse."""

    solve: Callable[[SX], SX]
    inverse: Result


def direct_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX) -> Derivatives:
    """da/dq, da/dv, da/dtau (nv x nv) and dlam/dq, dlam/dv, dlam/dtau (m x nv) where contacts' rows are independent."""
    return derivatives(tree, v, tau, f_ext, k, lambda W: solved(semidefinite_ldl(W)))


def proximal_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Derivatives:
    """The same of the solution that the proximal iteration settles at, whatever multipliers it starts from."""
    del lam0
    return derivatives(tree, v, tau, f_ext, k, lambda W: settled(ldl(W + diagonal(1 / mu, tree.m)), 1 / mu))


def soft_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX) -> Derivatives:
    """The same for rows of softness R: R lam is what they lack."""
    return derivatives(tree, v, tau, f_ext, k, lambda W: solved(ldl(W + diagonal(R, tree.m))))


def solved(factors: LDL) -> Dual:
    """A matrix by its factors."""
    return Dual(factors.solve, mirrored(factors.solve(SX.eye(factors.size))))


def settled(damped: LDL, damping: SX) -> Dual:
    """W by the factors of W + damping, which the steps of the proximal iteration undo."""
    D = diagonal(damping, damped.size)
    first = mirrored(damped.solve(SX.eye(damped.size)))
    inverse: Result = first
    undone = D @ first

    def solve(b: SX) -> SX:
        x = damped.solve(b)
        for _ in range(STEPS - 1):
            x = damped.solve(b + D @ x)
        return x

    for _ in range(STEPS - 1):
        inverse = Product(inverse, undone, first)
    return Dual(solve, inverse)


def derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, dual: Callable[[SX], Dual]) -> Derivatives:
    """The derivatives for a way to solve with W (m x m)."""
    Minv, J, still = minverse(tree), jacobian_transpose(tree).T, zeros(tree.nv)
    response = J @ Minv
    W = dual(mirrored(response @ J.T))
    free = Minv @ (tau - rnea(tree, v, still, f_ext))
    lam = W.solve(constraint_rhs(tree, motions(tree, v, still), k) - J @ free)
    a = free + response.T @ lam
    Q, V, _ = rnea_derivatives(tree, v, a, f_ext)
    along, forces = partial(along_tangents, tree, v), SX.sym("lam", tree.m)
    c_q, c_v = lacking(tree, v, k, a, along)
    R_q = substitute(along(J.T @ forces), forces, densify(lam)) - Q
    # the inverse of the matrix of the equations above: da and -dlam by dtau and dc
    by_tau = Product(W.inverse, -response)
    projected = Product(by_tau, response, Minv, transposed=True)
    a_q, a_v = (Product(projected, R, Product(by_tau, -c, transposed=True)) for R, c in ((R_q, c_q), (-V, c_v)))
    lam_q, lam_v = (Product(by_tau, R, Product(W.inverse, c)) for R, c in ((R_q, c_q), (-V, c_v)))
    return a_q, a_v, projected, lam_q, lam_v, by_tau


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
