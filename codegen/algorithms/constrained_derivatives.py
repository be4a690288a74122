"""Derivatives of constrained dynamics by the implicit function theorem, in one place for all algorithms.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021, sec. IV: the
solution makes ID(q, v, a) = tau + J' lam and the rows' lack c(q, v, a) vanish, so that

    M da - J' dlam = dtau - (dID - d(J' lam)),    J da = dc    (dID, d(J' lam), dc at constant a and lam),

by M^-1 = L' D^-1 L and the inverse of W = J M^-1 J' = Y' D^-1 Y, Y = L J'. Columns by q are along joints' tangents.

Where rows depend on each other at every configuration, a proximal iteration settles at least squares: c does not
vanish, but J' D^-1 c does (D is the damping), and lam - lam0 = D^-1 J b for some b. With p = d(J' x) at constant
x = D^-1 c and y = W+ J M^-1 p, J da is then dc + D y as nearly as it can be, and dlam has (1 - W+ W) D^-1 d(J b)
besides (`codegen.recursions.dual`). Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from casadi import SX, densify, horzcat, jacobian, substitute, vertcat

from codegen.algorithms.minverse import inverse_factors
from codegen.algorithms.rnea import rnea, transmitted
from codegen.algorithms.rnea_derivatives import rnea_derivatives
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.dual import Dual, Solver, direct, proximal, soft
from codegen.recursions.motion import constraint_rhs, forces, motions
from codegen.recursions.products import Product, Result, negated
from codegen.recursions.spanning_rates import node_rates
from codegen.recursions.sweeps import add_contact_forces
from codegen.recursions.tree import Tree
from codegen.spatial import diagonal, mirrored, zeros

Solve = Callable[[SX], SX]
InverseDynamics = Callable[[Tree, SX, SX, SX, SX], tuple[Result, ...]]
"""dtau/dq, dtau/dv and M of a tree, v, a, external wrenches and multipliers."""


class Change(NamedTuple):
    """How the equations change at constant a and lam, by n coordinates: R (nv x n) and what rows lack, c (m x n).

    R are forces, `idle` (m x n) is how multipliers of redundant rows change besides, without force.
    """

    R: Result
    c: SX
    idle: SX | None = None


class Rows(NamedTuple):
    """Rows J (m x nv), how to solve with M, how multipliers accelerate joints (M^-1 J'), and how to solve with W.

    `inverse_dynamics` gives the derivatives of inverse dynamics.
    """

    J: SX
    of_M: Solve
    accelerated: Solve
    dual: Dual
    inverse_dynamics: InverseDynamics = rnea_derivatives


def direct_derivatives(
    tree: Tree,
    v: SX,
    tau: SX,
    f_ext: SX,
    k: SX,
    by: Sequence[SX] = (),
    inverse_dynamics: InverseDynamics = rnea_derivatives,
) -> tuple[Result, ...]:
    """da/dq, da/dv, da/dtau (nv x nv) and dlam/dq, dlam/dv, dlam/dtau (m x nv) where contacts' rows are independent.

    Then da/dp and dlam/dp for each of `by`, columns of symbols that other arguments, or the tree, depend on.
    `inverse_dynamics` gives the derivatives of inverse dynamics.
    """
    return derivatives(tree, (v, tau, f_ext, k), lambda _: direct, by, inverse_dynamics)


def proximal_derivatives(
    tree: Tree,
    v: SX,
    tau: SX,
    f_ext: SX,
    k: SX,
    mu: SX,
    lam0: SX,
    by: Sequence[SX] = (),
    inverse_dynamics: InverseDynamics = rnea_derivatives,
) -> tuple[Result, ...]:
    """The same of the solution that the proximal iteration settles at from lam0, where rows may be redundant."""
    return derivatives(tree, (v, tau, f_ext, k), lambda J: proximal(tree, J, mu, lam0), by, inverse_dynamics)


def soft_derivatives(
    tree: Tree,
    v: SX,
    tau: SX,
    f_ext: SX,
    k: SX,
    R: SX,
    by: Sequence[SX] = (),
    inverse_dynamics: InverseDynamics = rnea_derivatives,
) -> tuple[Result, ...]:
    """The same for rows of softness R: R lam is what they lack."""
    return derivatives(tree, (v, tau, f_ext, k), lambda _: soft(R), by, inverse_dynamics, R)


def direct_linearised(
    tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, inverse_dynamics: InverseDynamics = rnea_derivatives
) -> tuple[Result, ...]:
    """a, da/dq, da/dv and da/dtau where contacts' rows are independent."""
    return linearised(tree, (v, tau, f_ext, k), lambda _: direct, (), inverse_dynamics)[:4]


def proximal_linearised(
    tree: Tree,
    v: SX,
    tau: SX,
    f_ext: SX,
    k: SX,
    mu: SX,
    lam0: SX,
    inverse_dynamics: InverseDynamics = rnea_derivatives,
) -> tuple[Result, ...]:
    """The same of the solution that the proximal iteration settles at from lam0."""
    return linearised(tree, (v, tau, f_ext, k), lambda J: proximal(tree, J, mu, lam0), (), inverse_dynamics)[:4]


def soft_linearised(
    tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX, inverse_dynamics: InverseDynamics = rnea_derivatives
) -> tuple[Result, ...]:
    """The same for rows of softness R."""
    return linearised(tree, (v, tau, f_ext, k), lambda _: soft(R), (), inverse_dynamics, R)[:4]


def equations(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX, a: SX, lam: SX) -> SX:
    """What the solution makes vanish: ID - tau - J' lam (nv), and what rows of softness R lack (m)."""
    motion = motions(tree, v, a)
    pushed = add_contact_forces(tree, forces(tree, motion, f_ext), lam)
    needed = transmitted(tree, pushed, tree.armature_forces(v, a))
    return vertcat(needed - tau, constraint_rhs(tree, motion, k) - R * lam)


Given = tuple[SX, SX, SX, SX]
"""v, tau, f_ext and k."""


def derivatives(
    tree: Tree,
    given: Given,
    solver: Callable[[SX], Solver],
    by: Sequence[SX],
    inverse_dynamics: InverseDynamics,
    R: SX | None = None,
) -> tuple[Result, ...]:
    """The derivatives by q, v, tau and `by` for a way to solve with W (m x m), as products with inverses."""
    return linearised(tree, given, solver, by, inverse_dynamics, R)[1:]


def linearised(
    tree: Tree,
    given: Given,
    solver: Callable[[SX], Solver],
    by: Sequence[SX],
    inverse_dynamics: InverseDynamics,
    R: SX | None = None,
) -> tuple[Result, ...]:
    """The accelerations a, then the same."""
    M, J = inverse_factors(tree), jacobian_transpose(tree).T
    Y = M.L @ J.T
    scaled_Y, scaled_L = M.scaled(Y), M.scaled(M.L)
    dual = solver(J)(mirrored(Y.T @ scaled_Y))
    rows = Rows(J, M.solve, lambda x: M.L.T @ (scaled_Y @ x), dual, inverse_dynamics)
    a, changes = solution(tree, given, rows, by, R)
    # the inverse of the matrix of the equations above: da and -dlam by dtau and dc
    response, negative = Product(scaled_Y, M.L, transposed=True), rows.dual.negative()
    lam_tau = Product(negative, response)
    Minv = Product(M.L, scaled_L, transposed=True, symmetric=True)
    a_tau = Product(response, lam_tau, Minv, transposed=True, symmetric=True)
    met = [-at.c for at in changes]
    moved = [Product(a_tau, at.R, Product(lam_tau, c, transposed=True)) for at, c in zip(changes, met, strict=True)]
    lam = [Product(lam_tau, at.R, Product(negative, c, at.idle)) for at, c in zip(changes, met, strict=True)]
    others = [x for pair in zip(moved[2:], lam[2:], strict=True) for x in pair]
    return a, *moved[:2], a_tau, *lam[:2], lam_tau, *others


def solution(
    tree: Tree, given: Given, rows: Rows, by: Sequence[SX] = (), R: SX | None = None
) -> tuple[SX, list[Change]]:
    """The solution's a, and how its equations change by q, by v, and by each column of symbols."""
    v, tau, f_ext, k = given
    still, J, dual, lam0 = zeros(tree.nv), rows.J, rows.dual, zeros(tree.m)
    free = rows.of_M(tau - rnea(tree, v, still, f_ext))
    lack = constraint_rhs(tree, motions(tree, v, still), k) - J @ free
    if dual.redundant:
        lam0 = dual.redundant.lam0
        lack -= dual.redundant.W @ lam0
    lam = lam0 + dual.solve(lack)
    a = free + rows.accelerated(lam)
    along = partial(along_tangents, tree, v)
    c_q, c_v = lacking(tree, v, k, a, along)
    R_q, R_v = forces_by_state(tree, given, rows, a, lam, along)
    changes = [Change(R_q, c_q), Change(R_v, c_v)]
    changes += by_symbols(tree, given, zeros(tree.m) if R is None else R, a, lam, by)
    if dual.redundant:
        changes = least_squares(rows, lack, lam - lam0, along, changes, by)
    return a, changes


def forces_by_state(
    tree: Tree, given: Given, rows: Rows, a: SX, lam: SX, along: Callable[[SX], SX]
) -> tuple[Result, Result]:
    """How joint forces less those that motions need change by q and v (nv x nv), at constant a and lam.

    Contacts' forces are wrenches like external ones where their rows stand still in their bodies.
    """
    v, _, f_ext, _ = given
    if all(contact.force.is_constant() for contact in tree.contacts):
        Q, V, _ = rows.inverse_dynamics(tree, v, a, f_ext, lam)
        return negated(Q), negated(V)
    Q, V, _ = rnea_derivatives(tree, v, a, f_ext)
    return held(along, rows.J.T, lam) - Q, -V


def by_symbols(tree: Tree, given: Given, R: SX, a: SX, lam: SX, by: Sequence[SX]) -> list[Change]:
    """How the equations change by columns of symbols."""
    constant = SX.sym("solution", tree.nv + tree.m)
    lack = equations(tree, *given, R, constant[: tree.nv], constant[tree.nv :]) if by else SX()
    found = (substitute(jacobian(lack, p), constant, densify(vertcat(a, lam))) for p in by)
    return [Change(-x[: tree.nv, :], x[tree.nv :, :]) for x in found]


def least_squares(
    rows: Rows, lack: SX, gained: SX, along: Callable[[SX], SX], changes: Sequence[Change], by: Sequence[SX]
) -> list[Change]:
    """The changes where rows lack what they do without the multipliers `gained` (m), and contradict one another."""
    dual, J = rows.dual, rows.J
    assert dual.redundant is not None
    W, D, lam0 = dual.redundant.W, dual.redundant.damping, dual.redundant.lam0
    left = lack - W @ gained
    y = dual.solve(J @ rows.of_M(held(along, J.T, left / D)))
    b = rows.accelerated(dual.solve(D * gained))
    (R_q, c_q, _), by_v, *others = changes
    by_q = Change(R_q, c_q + diagonal(D, D.size1()) @ y, dual.idle(diagonal(1 / D, D.size1()) @ held(along, J, b)))
    found = [by_q, by_v]
    for (R, c, _), p in zip(others, by, strict=True):
        weighed = jacobian(D, p)
        moved = jacobian(lam0, p) - diagonal(gained / D, D.size1()) @ weighed
        found.append(Change(R, c - diagonal(left / D, D.size1()) @ weighed, dual.idle(moved)))
    return found


def held(along: Callable[[SX], SX], A: SX, x: SX) -> SX:
    """The derivative of A x by q at constant x."""
    constant = SX.sym("x", x.size1())
    return substitute(along(A @ constant), constant, densify(x))


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
