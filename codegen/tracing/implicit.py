"""Algorithms as programs of what solves equations (`codegen.tracing.solutions`).

Forward dynamics, constrained or not: y = a, or (a, lam), makes R(x, y) vanish, inverse dynamics less tau and the forces
of contacts, and what the contacts' rows lack. dR/dy is symmetric, and y is linear in joint forces tau and wanted
accelerations k: its derivative along these solves with dR/dy, by the factors that are there. A proximal iteration is
taken for settled. Of steps of time the same holds for the dynamics at every stage, for the equation that an implicit
step solves, and for positions that close loops (`codegen.tracing.closing`). Contacts that break and slip have the
Jacobian that an algorithm of its own gives.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from casadi import SX, densify, dot, horzcat, jtimes, substitute, vec, vertcat

from codegen.algorithms.constrained_derivatives import contact_terms, equations
from codegen.algorithms.rnea import rnea
from codegen.lowering import lowered
from codegen.recursions.composition import INLINE, Composition
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.dual import redundant
from codegen.recursions.expansion import entries
from codegen.recursions.iteration import Iteration
from codegen.spatial import zeros
from codegen.tracing.closing import closing
from codegen.tracing.form import Form
from codegen.tracing.solutions import Dynamics, Implicit, Linear, Program, Root
from codegen.tracing.tangents import tangents
from codegen.tracing.task import ALWAYS
from codegen.tracing.trace import called, composed, part_of, results_of, stated, symbols_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.lowering import Problem
    from codegen.recursions.composition import Called, Parts
    from codegen.recursions.products import Result
    from codegen.tracing.task import Task

FORWARD = ("aba", "ltl", "approximate_aba")
"""Forward dynamics without contacts."""

OF_ITERATIONS = ("mu", "lam0", "weight")
"""Arguments that change single steps of a proximal iteration more than what it settles at."""

LINEARISED = "_linearised"
"""How parts are called that give dynamics with their derivatives."""


def program_of(task: Task, symbols: list[SX]) -> Program:
    """An algorithm, of these symbols of its arguments, with what it solves left unknown."""
    x, run = vertcat(*symbols), task.entry.run
    if isinstance(run, Composition):
        return composition(task, symbols)
    if (closes := closing(task, symbols)) is not None:
        return Program(x, closes[0], closes[1:])
    own = solution(task, symbols)
    size = sum(port.size for port in task.signature[1])
    return Program(x, column(results_of(task, symbols))) if own is None else Program(x, own.unknown[:size], (own,))


def composition(task: Task, symbols: list[SX]) -> Program:
    """A step of time: the dynamics at every stage are solutions, what closes loops, and what an implicit step finds."""
    x, found = vertcat(*symbols), list[Implicit]()

    def leaving_unknown(task: Task, name: str, given: Mapping[str, SX]) -> Called:
        run, part = called(task, name, given), part_of(task, name.removesuffix(LINEARISED))
        ports = part.signature[0]
        own = symbols_of(ports)
        solved, closes = solution(part, own), closing(part, own)

        def call(parts: Parts = INLINE, **arguments: SX) -> tuple[Result, ...]:
            """The results, with unknowns in the place of accelerations and multipliers, and where loops are closed."""
            columns = [vec(SX(arguments[p.name]).T) if p.name in arguments else given[p.name] for p in ports]
            if closes is not None:
                end, moves = closes[0], closes[1].renamed()
                found.append(moves.at(vertcat(*own), densify(vertcat(*columns))))
                old, new = vertcat(*own, closes[1].unknown), densify(vertcat(*columns, moves.unknown))
                return (substitute(end, old, new),)
            made = run(parts, **arguments)
            if solved is None:
                return made
            unknown = SX.sym("y", solved.unknown.size1())
            moved = solved.at(vertcat(*own, solved.unknown), densify(vertcat(*columns, unknown)))
            found.append(replace(moved, unknown=unknown))
            return (unknown[: made[0].size1()], *made[1:])

        return call

    results = composed(task, symbols, leaving_unknown)
    if not isinstance(results, Iteration):
        return Program(x, column(results), tuple(found))
    assert results.equation is not None, f"{task.algorithm} iterates for a root"
    plain = composed(task, symbols, called)
    found.clear()
    unknown = SX.sym("root", results.state.size1())
    K, lack = results.equation(unknown)
    root = Root(unknown, plain.reached(task.iterations or 1)[0], lack, K, tuple(found))
    found.clear()
    y = column(results.finish(unknown))
    return Program(x, y, (root, *found))


def solution(task: Task, columns: Sequence[SX]) -> Dynamics | Linear | None:
    """What the algorithm solves, at symbols of arguments, if the theorem gives its derivatives."""
    return linear(task, columns) if task.entry.breaks else dynamics(task, columns)


def linear(task: Task, columns: Sequence[SX]) -> Linear:
    """Results of contacts that break and slip, with the derivatives that NAME_derivatives gives."""
    ports, outputs = task.signature
    wrt = tuple(port.name for port in ports if port.name not in (*ALWAYS, *OF_ITERATIONS))
    slopes = replace(task, algorithm=f"{task.algorithm}_derivatives", form=Form(wrt=wrt))
    names = [port.name for port in slopes.signature[1]]
    known, blocks = dict(zip(names, results_of(slopes, [*columns]), strict=True)), list[SX]()
    numbers = dict(zip(task.numbers, columns[len(columns) - len(task.numbers) :], strict=True))
    for port, x in zip(ports, columns, strict=True):
        rows = [known.get(f"d{y.name}_d{port.name}", SX(y.size, port.size)) for y in outputs]
        along = tangents(task.model, numbers, x)[1] if port.name == "q" else SX.eye(port.size)
        blocks.append(vertcat(*rows) @ along)
    J, y = horzcat(*blocks), SX.sym("y", sum(port.size for port in outputs))
    slope = SX.sym("J", J.sparsity())
    value = vertcat(column(results_of(task, [*columns])), J.nz[:])
    return Linear(vertcat(y, slope.nz[:]), value, y - slope @ vertcat(*columns))


def dynamics(task: Task, columns: Sequence[SX]) -> Dynamics | None:
    """The solution at symbols of arguments, if the algorithm is one of forward dynamics that solves the equations."""
    held, (ports, results) = task.entry.group == "constrained", task.signature
    solves = task.algorithm in FORWARD or (held and not {*OF_ITERATIONS} & {*task.parameters})
    if task.tier == "published" or not solves:
        return None
    parts = [SX.sym(port.name, port.size) for port in results]
    equation = residual(task, columns, parts)
    if equation is None:
        return None
    m = parts[1].size1() if held else 0
    given, causes = dict(zip([port.name for port in ports], columns, strict=True)), SX.sym("causes", task.model.nv + m)
    responding = replace(task, parameters=tuple(dict.fromkeys((*task.parameters, "k")))) if held else task
    moved = {**given, "tau": causes[: task.model.nv], "k": causes[task.model.nv :]}
    response = column(results_of(responding, [moved[port.name] for port in responding.signature[0]]))
    here = densify(vertcat(given["tau"], given.get("k", zeros(m))))
    return Dynamics(vertcat(*parts), *equation, response, causes, here, task.model.nv)


def residual(task: Task, columns: Sequence[SX], parts: Sequence[SX]) -> tuple[SX, SX] | None:
    """R(x, y) at arguments x, and y, as the lowered robot has them; None where rows of contacts are redundant."""
    held, problem = task.entry.declares.held, _stating(task, columns, parts)
    tree, given = problem.built, problem.arguments
    v, tau, f_ext, a = (given[name] for name in ("v", "tau", "f_ext", "a"))
    if task.entry.group != "constrained":
        return rnea(tree, v, a, f_ext) - tau, a
    if held != "softly" and redundant(tree, jacobian_transpose(tree).T):
        return None
    R, lam = given["R"] if held == "softly" else SX(0), given["lam"]
    return equations(tree, v, tau, f_ext, given["k"], R, a, lam), vertcat(a, lam)


def contacts_only(task: Task, columns: Sequence[SX], parts: Sequence[SX], u: SX) -> SX:
    """u' R of constrained dynamics, with u along y, less that of inverse dynamics and joint forces."""
    problem, y = _stating(task, columns, parts), vertcat(*parts)
    tree, given = problem.built, problem.arguments
    v, k, a, lam = (given[name] for name in ("v", "k", "a", "lam"))
    R = given["R"] if task.entry.declares.held == "softly" else SX(0)
    return dot(jtimes(vertcat(a, lam), y, u), contact_terms(tree, v, k, R, a, lam))


def wanted_only(task: Task, columns: Sequence[SX], parts: Sequence[SX], u: SX) -> SX:
    """Of these what rows want, and how they yield: u' (k - R lam)."""
    problem, y = _stating(task, columns, parts), vertcat(*parts)
    given = problem.arguments
    R = given["R"] if task.entry.declares.held == "softly" else SX(0)
    lack = vertcat(zeros(given["a"].size1()), given["k"] - R * given["lam"])
    return dot(jtimes(vertcat(given["a"], given["lam"]), y, u), lack)


def _stating(task: Task, columns: Sequence[SX], parts: Sequence[SX]) -> Problem:
    """The lowered robot at arguments x, and at a solution y as its arguments."""
    needs, solution = task.entry.needs(task.parameters), dict(zip(("a", "lam"), parts, strict=False))
    stating = stated(task, replace(needs, held="", stiffened=False), task.signature[0], columns, solution)
    return lowered(stating, task.without)


def column(results: Sequence[Result]) -> SX:
    """Results below one another, row by row."""
    return vertcat(*[vec(result.T) for result in entries(tuple(results))])
