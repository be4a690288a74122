"""Derivatives of constrained dynamics by the implicit function theorem, in one place for all algorithms.

Carpentier, Budhiraja, Mansard, Proximal and sparse resolution of constrained dynamic equations, RSS 2021, sec. IV: the
solution makes ID(q, v, a) = tau + J' lam and the rows' lack c(q, v, a) vanish, so that

    M da - J' dlam = dtau - (dID - d(J' lam)),    J da = dc    (dID, d(J' lam), dc at constant a and lam),

by M^-1 = L' D^-1 L and the inverse of W = J M^-1 J' = Y' D^-1 Y, Y = L J'. Columns by q are along joints' tangents.
First limbs accelerate as if the trunk were held, by f. Then forces on the trunk alone are left, and dc - J f, and only
these meet the dense inverse: by the joint of a limb, instead of with all that carries it and all that it carries. How a
free base falls and glides, by how it is turned and moves (`codegen.recursions.free_base`), takes no forces.

Where rows depend on each other at every configuration, a proximal iteration settles at least squares: c does not
vanish, but J' D^-1 c does (D is the damping), and lam - lam0 = D^-1 J b for some b. With p = d(J' x) at constant
x = D^-1 c and y = W+ J M^-1 p, J da is then dc + D y as nearly as it can be, and dlam has (1 - W+ W) D^-1 d(J b)
besides (`codegen.recursions.dual`). Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from casadi import SX, densify, diagcat, horzcat, jacobian, sparsify, substitute, vertcat

from codegen.algorithms.minverse import InverseFactors, inverse_factors
from codegen.algorithms.rnea import rnea, transmitted
from codegen.algorithms.rnea_derivatives import rnea_derivatives
from codegen.recursions.composition import INLINE, Parts
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.dual import Dual, Solver, direct, proximal, soft
from codegen.recursions.free_base import Known, known_changes
from codegen.recursions.motion import constraint_rhs, forces, motions
from codegen.recursions.products import Product, Result, added, combined, times_left, transposed
from codegen.recursions.scaling import negated
from codegen.recursions.spanning_rates import node_rates
from codegen.recursions.sweeps import add_contact_forces
from codegen.recursions.tree import Tree
from codegen.spatial import diagonal, zeros

Solve = Callable[[SX], SX]
InverseDynamics = Callable[[Tree, SX, SX, SX, SX], tuple[Result, ...]]
"""dtau/dq, dtau/dv and M of a tree, v, a, external wrenches and multipliers."""
ContactChanges = Callable[[Tree, SX, SX], tuple[Result, Result]]
"""How the accelerations that contacts' rows see change by q and v (m x nv), of a tree, v and a."""


class Recursions(NamedTuple):
    """What gives the derivatives of inverse dynamics, and of many rows J and the derivatives of what these see.

    Without it their expressions do. Rows must stand still in their bodies.
    """

    inverse_dynamics: InverseDynamics = rnea_derivatives
    jacobian: Callable[[Tree], Result] | None = None
    contact_changes: ContactChanges | None = None


PLAIN = Recursions()


class Change(NamedTuple):
    """How the equations change at constant a and lam, by n coordinates: R (nv x n), and -c (m x n) of what rows lack.

    R are forces, `met` is -c, `idle` (m x n) is how multipliers of redundant rows change besides, without force, and
    `falls` (nv x n) how free bases accelerate besides, which neither R nor c know.
    """

    R: Result
    met: Result
    idle: Result | None = None
    falls: SX | None = None

    def without(self, known: Known, met: Result) -> Change:
        """The same with what is known apart; `met` is what rows meet then."""
        return self._replace(R=known.others(self.R), met=met, falls=known.added())


class Limbs(NamedTuple):
    """Limbs by themselves: what moves if the trunk, all joints that carry contacts of several limbs, is held.

    Joint forces R then accelerate them by L' D^-1 L R, L without rows of the trunk. The forces that come to the joints
    of the trunk, R there and what limbs pass on, are `passed` R. `scaled` is D^-1 L of M. All are nv x nv; `trunk` has
    ones on its diagonal.
    """

    L: SX
    passed: SX
    scaled: SX
    trunk: SX

    def first(self, at: Change, J: SX) -> tuple[Result | None, Result, Result]:
        """How limbs and bases accelerate (nv x n, if any do), forces on the trunk (nv x n), and what rows then meet
        (m x n).
        """
        if not self.L.nnz():
            return at.falls, at.R, at.met
        own = Product(self.scaled, Product(self.L, at.R), at.falls, transposed=True)
        return own, Product(self.passed, at.R), Product(J - sparsify(J @ self.trunk), own, at.met)


def limbs_of(tree: Tree, scaled: SX, many: bool = False) -> Limbs:
    """The limbs of a tree beyond the nodes where its contacts' paths to the root meet.

    A chain is all trunk, and so is a robot with many rows: otherwise its C would be more than 2 MB.
    """
    chain = all(parent == i - 1 for i, parent in enumerate(tree.parent))
    if chain or many:
        return Limbs(SX(tree.nv, tree.nv), SX.eye(tree.nv), scaled, SX.eye(tree.nv))
    pairs = combinations({contact.node for contact in tree.contacts}, 2)
    trunk = {i for pair in pairs for i in tree.path(tree.closest(*pair))}
    own = inverse_factors(tree, trunk)
    held = sparsify(diagcat(*[(i in trunk) * SX.eye(S.size) for i, S in enumerate(tree.S)]))
    passed = sparsify(held @ own.L)
    return Limbs(sparsify(own.L - passed), passed, scaled, held)


class Rows(NamedTuple):
    """Rows J (m x nv), W, how they respond to joint forces, J M^-1 (m x nv), and how to solve with M.

    `accelerated` are joint accelerations of multipliers, M^-1 J' x, `seen` what rows see of joint forces, J M^-1 B.
    `recursions` are those for derivatives of inverse dynamics and of what rows see.
    """

    J: SX
    W: Result
    response: Result
    of_M: Solve
    accelerated: Solve
    seen: Callable[[Any], Result]
    recursions: Recursions = PLAIN

    def yields(self, lam: SX) -> SX:
        """W lam (m), the accelerations that rows see of multipliers."""
        return self.W @ lam if isinstance(self.W, SX) else self.J @ self.accelerated(lam)


def direct_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, **how: Any) -> tuple[Result, ...]:
    """da/dq, da/dv, da/dtau (nv x nv) and dlam/dq, dlam/dv, dlam/dtau (m x nv) where contacts' rows are independent.

    Then da/dp and dlam/dp for each of `by`, columns of symbols that other arguments, or the tree, depend on. `how`,
    here and below, are the last arguments of `linearised`.
    """
    return linearised(tree, (v, tau, f_ext, k), direct, **how)[1:]


def proximal_derivatives(
    tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX, **how: Any
) -> tuple[Result, ...]:
    """The same of the solution that the proximal iteration settles at from lam0, where rows may be redundant."""
    return linearised(tree, (v, tau, f_ext, k), proximal(tree, mu, lam0), **how)[1:]


def soft_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX, **how: Any) -> tuple[Result, ...]:
    """The same for rows of softness R: R lam is what they lack."""
    return linearised(tree, (v, tau, f_ext, k), soft(R), R=R, **how)[1:]


def direct_linearised(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, **how: Any) -> tuple[Result, ...]:
    """a, da/dq, da/dv and da/dtau where contacts' rows are independent."""
    return linearised(tree, (v, tau, f_ext, k), direct, **how)[:4]


def proximal_linearised(
    tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX, **how: Any
) -> tuple[Result, ...]:
    """The same of the solution that the proximal iteration settles at from lam0."""
    return linearised(tree, (v, tau, f_ext, k), proximal(tree, mu, lam0), **how)[:4]


def soft_linearised(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX, **how: Any) -> tuple[Result, ...]:
    """The same for rows of softness R."""
    return linearised(tree, (v, tau, f_ext, k), soft(R), R=R, **how)[:4]


def equations(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, R: SX, a: SX, lam: SX) -> SX:
    """What the solution makes vanish: ID - tau - J' lam (nv), and what rows of softness R lack (m)."""
    motion = motions(tree, v, a)
    pushed = add_contact_forces(tree, forces(tree, motion, f_ext), lam)
    needed = transmitted(tree, pushed, tree.armature_forces(v, a))
    return vertcat(needed - tau, constraint_rhs(tree, motion, k) - R * lam)


def contact_terms(tree: Tree, v: SX, k: SX, R: SX, a: SX, lam: SX) -> SX:
    """Of these equations what contacts add to ID - tau: -J' lam (nv), and what rows lack (m)."""
    return vertcat(-jacobian_transpose(tree) @ lam, constraint_rhs(tree, motions(tree, v, a), k) - R * lam)


Given = tuple[SX, SX, SX, SX]
"""v, tau, f_ext and k."""


def linearised(
    tree: Tree,
    given: Given,
    solver: Solver,
    by: Sequence[SX] = (),
    recursions: Recursions = PLAIN,
    parts: Parts = INLINE,
    R: SX | None = None,
) -> tuple[Result, ...]:
    """a, then derivatives by q, v, tau and `by`, as products with inverses, for a way to solve with W (m x m).

    `recursions` give derivatives of inverse dynamics and of what rows see, `parts` say what loops make.
    """
    M = inverse_factors(tree)
    rows = (looped_rows if parts.many(tree.m) else written_rows)(tree, M, recursions, parts)
    response, dual = rows.response, solver(rows.W, parts)
    a, negative, changes = solution(tree, given, rows, dual, by, R)
    # the inverse of the matrix of the equations above: da and -dlam by dtau and dc
    lam_tau = Product(negative, response)
    felt = lam_tau if dual.symmetric else Product(transposed(negative), response)
    scaled = M.scaled(M.L)
    Minv = Product(M.L, scaled, transposed=True, symmetric=True)
    a_tau = Product(response, lam_tau, Minv, transposed=True, symmetric=dual.symmetric)
    limbs, moved, lam = limbs_of(tree, scaled, parts.many(tree.m)), list[Result](), list[Result]()
    # limbs with the trunk held, then what is left
    for at in bases_apart(tree, given, rows.J, limbs, changes):
        own, force, met = limbs.first(at, rows.J)
        moved.append(Product(a_tau, force, Product(felt, met, own, transposed=True)))
        lam.append(Product(lam_tau, force, Product(negative, met, at.idle)))
    others = [x for pair in zip(moved[2:], lam[2:], strict=True) for x in pair]
    return a, *moved[:2], a_tau, *lam[:2], lam_tau, *others


def bases_apart(tree: Tree, given: Given, J: SX, limbs: Limbs, changes: Sequence[Change]) -> list[Change]:
    """The changes, of which those by q and v have what free bases do apart, where rows are few and move with bodies.

    Rows see bases fall otherwise, but do not see them glide. If bases are no part of the trunk, what rows see of them
    is part of what they see of limbs. Many rows are loops, which take q and v together.
    """
    (by_q, by_v, *others), (v, _, _, k) = changes, given
    falls, glides = known_changes(tree, v, by_q.R)
    if not (stand_still(tree) and isinstance(by_q.met, SX)):
        return [*changes]
    if sparsify(falls.changes - limbs.trunk @ falls.changes).nnz():
        return [by_q.without(falls, by_q.met), by_v.without(glides, by_v.met), *others]
    by_q = by_q.without(falls, by_q.met + J @ falls.changes)
    if not jacobian(k, v).nnz():
        by_v = by_v.without(glides, glides.others(by_v.met))
    return [by_q, by_v, *others]


def written_rows(tree: Tree, M: InverseFactors, recursions: Recursions, parts: Parts) -> Rows:
    """Few rows, as expressions but for W, which loops may factorise; derivatives of what they see are expressions."""
    J = jacobian_transpose(tree).T
    Y = M.L @ J.T
    scaled = M.scaled(Y)
    W = parts.numbers(Product(Y, scaled, transposed=True, symmetric=True))
    return Rows(
        J,
        W,
        Product(scaled, M.L, transposed=True),
        M.solve,
        lambda x: M.L.T @ (scaled @ x),
        lambda B: J @ M.solve(B),
        recursions._replace(contact_changes=None),
    )


def looped_rows(tree: Tree, M: InverseFactors, recursions: Recursions, parts: Parts) -> Rows:
    """Many rows, by products."""
    own = recursions if stand_still(tree) else PLAIN
    J = own.jacobian(tree) if own.jacobian else jacobian_transpose(tree).T
    Y = Product(M.L, transposed(J))
    scaled, numbers = Product(M.scaled(SX.eye(tree.nv)), Y), parts.numbers(J)
    response = Product(scaled, M.L, transposed=True)
    return Rows(
        numbers,
        Product(Y, scaled, transposed=True, symmetric=True),
        response,
        M.solve,
        lambda x: M.solve(numbers.T @ x),
        lambda B: Product(response, B),
        own,
    )


def solution(
    tree: Tree, given: Given, rows: Rows, dual: Dual, by: Sequence[SX] = (), R: SX | None = None
) -> tuple[SX, Result, list[Change]]:
    """The solution's a, the negative of the dual there, and how equations change by q, by v, and by each of `by`."""
    v, tau, f_ext, k = given
    still, J, lam0 = zeros(tree.nv), rows.J, zeros(tree.m)
    free = rows.of_M(tau - rnea(tree, v, still, f_ext))
    lack = constraint_rhs(tree, motions(tree, v, still), k) - J @ free
    if dual.redundant:
        lam0 = dual.redundant.lam0
        lack -= rows.yields(lam0)
    lam = lam0 + dual.solve(lack)
    a = free + rows.accelerated(lam)
    along = partial(along_tangents, tree, v)
    met_q, met_v = met_by_state(tree, v, k, a, rows, along)
    R_q, R_v = forces_by_state(tree, given, rows, a, lam, along)
    changes = [Change(R_q, met_q), Change(R_v, met_v)]
    changes += by_symbols(tree, given, zeros(tree.m) if R is None else R, a, lam, by)
    if dual.redundant:
        changes = least_squares(tree, rows, dual, lack, lam - lam0, along, changes, by)
    return a, dual.negative(lack, lam), changes


def forces_by_state(
    tree: Tree, given: Given, rows: Rows, a: SX, lam: SX, along: Callable[[SX], SX]
) -> tuple[Result, Result]:
    """How joint forces less those that motions need change by q and v (nv x nv), at constant a and lam.

    Contacts' forces are wrenches like external ones where their rows stand still in their bodies.
    """
    v, _, f_ext, _ = given
    if stand_still(tree):
        Q, V, _ = rows.recursions.inverse_dynamics(tree, v, a, f_ext, lam)
        return negated(Q), negated(V)
    Q, V, _ = rnea_derivatives(tree, v, a, f_ext)
    return held(along, jacobian_transpose(tree), lam) - Q, -V


def stand_still(tree: Tree) -> bool:
    """Whether contacts' rows stand still in bodies that move."""
    return all(contact.force.is_constant() and contact.body >= 0 for contact in tree.contacts)


def met_by_state(tree: Tree, v: SX, k: SX, a: SX, rows: Rows, along: Callable[[SX], SX]) -> tuple[Result, Result]:
    """How rows come nearer to what they want by q and v (m x nv), at constant a."""
    if rows.recursions.contact_changes is None:
        c_q, c_v = lacking(tree, v, k, a, along)
        return -c_q, -c_v
    seen = rows.recursions.contact_changes(tree, v, a)
    wanted = along(k), jacobian(k, v)
    met_q, met_v = (added(x, -k_x) if k_x.nnz() else x for x, k_x in zip(seen, wanted, strict=True))
    return met_q, met_v


def by_symbols(tree: Tree, given: Given, R: SX, a: SX, lam: SX, by: Sequence[SX]) -> list[Change]:
    """How the equations change by columns of symbols."""
    constant = SX.sym("solution", tree.nv + tree.m)
    lack = equations(tree, *given, R, constant[: tree.nv], constant[tree.nv :]) if by else SX()
    found = (substitute(jacobian(lack, p), constant, densify(vertcat(a, lam))) for p in by)
    return [Change(-x[: tree.nv, :], -x[tree.nv :, :]) for x in found]


def least_squares(
    tree: Tree,
    rows: Rows,
    dual: Dual,
    lack: SX,
    gained: SX,
    along: Callable[[SX], SX],
    changes: Sequence[Change],
    by: Sequence[SX],
) -> list[Change]:
    """The changes where rows lack what they do without the multipliers `gained` (m), and contradict one another."""
    assert dual.redundant is not None
    D, lam0 = dual.redundant.damping, dual.redundant.lam0
    left = lack - rows.yields(gained)
    y = dual.solve(rows.seen(forces_turned(tree, rows, left / D, along)))
    b = rows.accelerated(dual.solve(D * gained))
    (R_q, met_q, *_), by_v, *others = changes
    idle = dual.idle(times_left(diagonal(1 / D, D.size1()), rows_turned(tree, rows, b, along)))
    found = [Change(R_q, further(met_q, times_left(diagonal(D, D.size1()), y)), idle), by_v]
    for (R, met, *_), p in zip(others, by, strict=True):
        weighed = jacobian(D, p)
        moved = jacobian(lam0, p) - diagonal(gained / D, D.size1()) @ weighed
        found.append(Change(R, further(met, -(diagonal(left / D, D.size1()) @ weighed)), dual.idle(moved)))
    return found


def forces_turned(tree: Tree, rows: Rows, lam: SX, along: Callable[[SX], SX]) -> Result:
    """The derivative of J' lam by q at constant lam."""
    if rows.recursions.contact_changes is None:
        return held(along, jacobian_transpose(tree), lam)
    still = zeros(tree.nv)
    return negated(rows.recursions.inverse_dynamics(tree.weightless, still, still, tree.no_wrenches, lam)[0])


def rows_turned(tree: Tree, rows: Rows, b: SX, along: Callable[[SX], SX]) -> Result:
    """The derivative of J b by q at constant b."""
    if rows.recursions.contact_changes is None:
        return held(along, jacobian_transpose(tree).T, b)
    return rows.recursions.contact_changes(tree, zeros(tree.nv), b)[0]


def further(met: Result, lack: Result) -> Result:
    """What is met where rows lack more."""
    if isinstance(met, SX) and isinstance(lack, SX):
        return -(lack - met)
    return combined([(x, s * SX.eye(x.shape[1])) for x, s in ((met, 1), (lack, -1))])


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
