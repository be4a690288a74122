"""Second derivatives by arguments: of joint forces and accelerations, steps, frames and centre of mass by recursions.

Of all else they are those of AD.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import SX, densify, diagcat, gradient, hessian, horzcat, jacobian, substitute, vec, vertcat, vertsplit

from codegen.lowering import ALL, Needs, Problem, Request, checked, lowered
from codegen.recursions.expansion import entries
from codegen.recursions.free_base import known_changes
from codegen.recursions.products import Result, substituted, summed, times, times_left, transposed
from codegen.recursions.spanning_rates import is_plain
from codegen.tracing.arguments import results, tangent_maps
from codegen.tracing.tangents import tangents
from codegen.tracing.trace import part_of, problem_of, results_of, results_or_products, symbols_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.tracing.differential import Differential
    from codegen.tracing.task import Task

MOVED = ("fk", "com")
"""Algorithms of points that bodies carry, and of velocities of these, which are linear in v."""

RECURSIVE = {
    "rnea": ("q", "v", "a"),
    "aba": ("q", "v", "tau"),
    "integrate": ("q", "dv"),
    **dict.fromkeys(MOVED, ("q", "v")),
}
"""Algorithms whose second derivatives come from recursions, as functions of these arguments alone."""

Pairs = dict[tuple[str, str], Result]
"""Second derivatives by the names of two arguments, in one order or the other."""


def second_derivatives(y: SX, symbols: Mapping[str, SX], known: Pairs) -> Pairs:
    """Of y (a number) by all pairs of columns of symbols; `known` ones are taken as they are."""
    names = [*symbols]
    if not known:
        found, ends, top = hessian(y, vertcat(*map(vec, symbols.values())))[0], dict[str, slice](), 0
        for name, x in symbols.items():
            ends[name] = slice(top, top := top + x.numel())
        return {(one, other): found[ends[one], ends[other]] for n, one in enumerate(names) for other in names[n:]}
    pairs = [(one, other) for n, one in enumerate(names) for other in names[n:]]
    missing = [pair for pair in pairs if not {pair, pair[::-1]} & known.keys()]
    slopes = {one: gradient(y, symbols[one]) for one, _ in missing}
    return known | {(one, other): jacobian(slopes[one], symbols[other]) for one, other in missing}


def turns_no_axes(task: Task) -> bool:
    """Whether the recursion holds: without loops, and where joints' axes stand still in their bodies."""
    rnea = replace(task, algorithm="rnea")
    return is_plain(problem_of(rnea, symbols_of(rnea.signature[0])).built)


def rows_stand_still(task: Task) -> bool:
    """Whether those of contacts do in their bodies, too."""
    own = part_of(task, "constrained_hessian")
    tree = problem_of(own, symbols_of(own.signature[0])).built
    return is_plain(tree) and all(contact.on_body.K.is_constant() for contact in tree.contacts)


def holds_still(task: Task) -> bool:
    """Whether a task is constrained dynamics of which recursions give all: rows want nothing of positions, either."""
    if task.entry.group != "constrained" or task.tier == "published":
        return False
    return not any(x.kp or x.kd for x in task.chosen_contacts()) and rows_stand_still(task)


def along_tangents(task: Task, state: Sequence[SX], weights: SX) -> SX:
    """Those of weights' tau by q, v and a (3 nv x 3 nv), q along the tangents of joints: how gradients change."""
    own = replace(task, algorithm="rnea_hessian")
    symbols = symbols_of(own.signature[0])
    given = dict(zip(("q", "v", "a", "weights"), (*state, weights), strict=True))
    made = results_or_products(own, symbols)
    _, qq, qv, qa, vv = entries(substituted(made, symbols, [given[port.name] for port in own.signature[0]]))
    none = SX(*vv.shape)
    return vertcat(horzcat(qq.T, qv, qa), horzcat(qv.T, vv, none), horzcat(qa.T, none, none))


def of_points(task: Task, state: Sequence[SX], weights: SX) -> SX:
    """Those of weighted results of `fk` or `com` by q and v (2 nv x 2 nv), along tangents: how gradients change."""
    own = replace(task, algorithm=f"{task.algorithm}_hessian")
    ports, symbols = own.signature[0], symbols_of(own.signature[0])
    ends = [0, *accumulate(port.size for port in ports[len(state) :])]
    made = results_or_products(own, symbols)
    _, qq, qv = entries(substituted(made, symbols, [*state, *vertsplit(weights, ends)]))
    return vertcat(horzcat(qq.T, qv), horzcat(qv.T, SX(*qv.shape)))


def of_accelerations(task: Task, state: Sequence[SX], weights: SX, J: SX | None = None) -> tuple[SX, SX]:
    """Of weights' a of forward dynamics the gradient by q, v and tau (3 nv), along tangents, and how it changes.

    It is J' weights, J = M^-1 [-dtau/dq, -dtau/dv, 1]. Its changes are -D' H D, with H those of u' tau by q, v and a,
    u = M^-1 weights, and D how these move: a by J. Of H by a there are only rows by q. Where J (nv x 3 nv) is not there
    anyway, their product with M^-1 is the block by q and tau, and what the others take: nothing else is multiplied by
    M^-1.
    """
    nv, called = task.model.nv, partial(_called, task)
    q, v, f = (slice(n * nv, (n + 1) * nv) for n in range(3))
    (a,), Minv = called(task.algorithm, state), called("minverse", state[:1])[0] if J is None else J[:, f]
    H = along_tangents(task, [*state[:2], a], u := Minv @ weights)
    qt, none = -H[q, f] @ Minv, SX(nv, nv)
    if J is None:
        dtau_dq, dtau_dv, _ = called("rnea_derivatives", [*state[:2], a])
        slope, qq, qv = (-dtau_dq.T @ u, -dtau_dv.T @ u), qt @ dtau_dq, qt @ dtau_dv
    else:
        slope, qq, qv = (J[:, q].T @ weights, J[:, v].T @ weights), H[q, f] @ J[:, q], H[q, f] @ J[:, v]
    qq, qv = -qq - qq.T - H[q, q], -(qv + H[q, v])
    second = vertcat(horzcat(qq, qv, qt), horzcat(qv.T, -H[v, v], none), horzcat(qt.T, none, none))
    others, falling, bent = of_free_bases(task, state, weights)
    return others @ vertcat(*slope, u) + falling, others @ second @ others + bent


def of_held_accelerations(
    task: Task, own: Differential, state: Sequence[SX], weights: SX, J: SX | None = None
) -> tuple[SX, SX]:
    """Of weights' (a, lam) of constrained dynamics the gradient by q, v and tau (3 nv), along tangents, and how it
    changes: as of forward dynamics, with multipliers u of all equations, which are linear in (a, lam).
    """
    (solution,), nv = own.program.solutions, task.model.nv
    y, u = (own.program.solved(x) for x in (solution.unknown, solution.multipliers(weights)))
    if J is None:
        by_q, by_v, by_tau, *of_lam = _called(task, f"{task.algorithm}_derivatives", state)
        J = vertcat(horzcat(by_q, by_v, by_tau), horzcat(*of_lam))
    given = [*state[:2], y[:nv], y[nv:], u[:nv], u[nv:]]
    _, qq, qv, qa, vv, of_multipliers = _called(task, "constrained_hessian", given)
    half, none = vertcat(horzcat(qa, of_multipliers.T) @ J, SX(2 * nv, 3 * nv)), SX(nv, nv)
    second = vertcat(horzcat(qq.T, qv, none), horzcat(qv.T, vv, none), SX(nv, 3 * nv))
    return own.vjp(weights), -(second + half + half.T)


def of_solved(task: Task, own: Differential, state: Sequence[SX], weights: SX, y: SX) -> tuple[Result, ...] | None:
    """Of weights' solution y of dynamics the gradient by q, v and tau (3 nv), along tangents, and second derivatives of
    weights' y - u' R by q and q, q and v, q and a, v and v, and if there are multipliers by these and q; all others
    vanish. None where recursions do not give them. By loops over columns if they pay.

    Of inverse dynamics y = tau, which solve nothing, the gradient by q, v and a, and those of weights' tau.
    """
    inputs = tuple(port.name for port in task.signature[0])
    if task.algorithm == "rnea" and inputs == RECURSIVE["rnea"] and turns_no_axes(task):
        return own.vjp(weights), *bent_by(part_of(task, "rnea_hessian"), [*state, weights])
    if not own.program.solutions or not is_solved(task):
        return None
    u = own.program.solved(own.program.solutions[0].multipliers(weights))
    return own.vjp(weights), *of_multiplied(task, state, u, y)


def of_multiplied(task: Task, state: Sequence[SX], u: SX, y: SX) -> tuple[Result, ...]:
    """These second derivatives at multipliers u."""
    hessian, nv = part_of(task, "rnea_hessian" if is_free(task) else "constrained_hessian"), task.model.nv
    parts = [x for x in (y[:nv], y[nv:], -u[:nv], -u[nv:]) if x.size1()]
    return bent_by(hessian, [*state[:2], *parts])


def is_solved(task: Task) -> bool:
    """Whether a task is dynamics of which recursions give all."""
    inputs = tuple(port.name for port in task.signature[0])
    return inputs == RECURSIVE["aba"] and (is_free(task) or holds_still(task))


def is_free(task: Task) -> bool:
    """Whether a task is forward dynamics of which recursions give all."""
    inputs = tuple(port.name for port in task.signature[0])
    return task.algorithm == "aba" and inputs == RECURSIVE["aba"] and turns_no_axes(task)


def bent_by(hessian: Task, given: Sequence[SX]) -> tuple[Result, ...]:
    """Second derivatives that a recursion gives, without the gradient; by loops over columns if they pay."""
    symbols = symbols_of(hessian.signature[0])
    made = results_or_products(replace(hessian, small_vectors=True), symbols, loops=True)
    return substituted(made, symbols, given)[1:]


def of_free_bases(task: Task, state: Sequence[SX], weights: SX) -> tuple[SX, SX, SX]:
    """Ones on a diagonal (3 nv x 3 nv) for all tangents but those by which free bases fall and glide by themselves.

    Then of weights' a the gradient by these (3 nv), and how it changes: that by how a base is turned with nothing else,
    that by its linear velocity with the angular one.
    """
    model, nv, w = task.model, task.model.nv, SX.sym("w", weights.size1())
    q, v = SX.sym("q", model.nq), SX.sym("v", nv)
    known = known_changes(lowered(Problem(Request(Needs()), model, q), checked([ALL])).built, v)
    falls, glides = (own.changes.T @ w for own in known)
    turning, none = jacobian(glides, v), SX(nv, nv)
    by_q = jacobian(falls, q) @ tangents(model, {}, q)[0]
    slope, second = vertcat(falls, glides, SX(nv, 1)), diagcat(by_q, turning + turning.T, none)
    slope, second = substitute([slope, second], [q, v, w], [*map(densify, state[:2]), densify(weights)])
    return diagcat(*(own.kept for own in known), SX.eye(nv)), slope, second


def _called(task: Task, name: str, given: Sequence[SX]) -> tuple[SX, ...]:
    """What an algorithm makes of these arguments, in the place of a task's own."""
    own = replace(task, algorithm=name)
    symbols = symbols_of(own.signature[0])
    return entries(substituted(results_or_products(own, symbols), symbols, given))


def of_step(task: Task, state: Sequence[SX], weights: SX) -> tuple[SX, SX]:
    """Of weights' q1 of `integrate` the gradient by q and dv (2 nv), along tangents, and how it changes."""
    own = replace(task, algorithm="integrate_derivatives")
    symbols = symbols_of(own.signature[0])
    slope = horzcat(*results_of(own, symbols)).T @ weights
    T, _ = tangents(task.model, {}, symbols[0])
    changes = [jacobian(slope, symbols[0]) @ T, *(jacobian(slope, x) for x in symbols[1:])]
    found = substitute([slope, horzcat(*changes)], symbols, [*state])
    return found[0], found[1]


def of_joint_forces(task: Task, given: Mapping[str, SX], weights: SX, *, loops: bool = False) -> Pairs:
    """Those of weights' tau by q, v and a, of inverse dynamics at these arguments; none where joints' axes turn.

    q is one of any quaternions but zero, as in `codegen.tracing.differentiated`: its tangents turn with it. By `loops`
    over columns if they pay.
    """
    if not turns_no_axes(task):
        return {}
    own = replace(task, algorithm="rnea_hessian")
    slope, *made = results(own, {**given, "weights": weights}, loops=loops).values()
    return _by_state(task, given["q"], slope, made)


def of_equations(task: Task, given: Mapping[str, SX], weights: SX, *, loops: bool = False) -> Pairs:
    """Those of weights' equations of constrained dynamics by q, v, a and lam, but for what rows want of q and v, and
    how they yield; none where joints' axes turn, or contacts' rows against bodies. By `loops` over columns if they pay.
    """
    if not rows_stand_still(task):
        return {}
    nv, m = task.model.nv, weights.size1() - task.model.nv
    weighed = {**given, "weights": weights[:nv], "weights_lam": weights[nv:]}
    own = part_of(task, "constrained_hessian")
    slope, *made, of_lam = results(own, weighed, loops=loops).values()
    linear = {("lam", "v"): SX(m, nv), ("lam", "a"): SX(m, nv), ("lam", "lam"): SX(m, m)}
    E = tangent_maps(task.model, given["q"])[1]
    return {**_by_state(task, given["q"], slope, made), ("lam", "q"): _right(of_lam, E), **linear}


def of_motion(task: Task, given: Mapping[str, SX], weights: Mapping[str, SX]) -> Pairs:
    """Those of weighted results of `fk` or `com` by q and v; none where joints' axes turn."""
    if not turns_no_axes(task):
        return {}
    weighted = {f"weights_{name}": w for name, w in weights.items()}
    own = results(replace(task, algorithm=f"{task.algorithm}_hessian"), {**given, **weighted})
    slope, qq, qv = (own[name] for name in ("H_q", "H_qq", "H_qv"))
    none = SX(*qv.shape)
    return {pair: x for pair, x in _by_state(task, given["q"], slope, (qq, qv, none, none)).items() if "a" not in pair}


def _by_state(task: Task, q: SX, slope: Result, along: Sequence[Result]) -> Pairs:
    """Those by q, v and a, of a gradient by q and second derivatives along tangents: by qq, qv, qa and vv.

    Tangents turn with q, which the gradient tells.
    """
    _, E = tangent_maps(task.model, q)
    (qq, qv, qa, vv), none = along, SX(task.model.nv, task.model.nv)
    assert isinstance(slope, SX)
    constant = SX.sym("slope", slope.sparsity())
    turning = substitute(jacobian(E.T @ constant, q), constant, slope)
    by_q = transposed(qq) if E.is_eye() else times(times_left(E.T, transposed(qq)), E)
    by_q = summed(by_q, turning)
    by_state = {("q", "q"): by_q, ("v", "q"): _right(transposed(qv), E), ("a", "q"): _right(transposed(qa), E)}
    return {**by_state, ("v", "v"): vv, ("v", "a"): none, ("a", "a"): none}


def _right(matrix: Result, E: SX) -> Result:
    """A matrix times E."""
    return matrix if E.is_eye() else times(matrix, E)
