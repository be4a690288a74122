"""Products of derivatives, by the implicit function theorem where results solve equations: the rule, in one place.

Forward dynamics, constrained or not: y = a, or (a, lam), makes R(x, y) vanish, inverse dynamics less tau and the forces
of contacts, and what the contacts' rows lack. It moves by -(dR/dy)^-1 dR, and weights w of it have the gradient
-(dR/dx)' u, u = (dR/dy)^-1 w: neither goes through the factorisation (Giles, An extended collection of matrix
derivative results, 2008; Carpentier and Mansard, RSS 2018). dR/dy is symmetric, and y is linear in joint forces tau and
wanted accelerations k: its derivative along these solves with dR/dy, by the factors that are there. A proximal
iteration is taken for settled. Of steps of time the same holds for the dynamics at every stage, and for the equation
that an implicit step solves. All else is algorithmic differentiation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

from casadi import SX, densify, dot, gradient, jtimes, substitute, vec, vertcat

from codegen.algorithms.constrained_derivatives import equations
from codegen.algorithms.rnea import rnea
from codegen.lowering import lowered
from codegen.recursions.composition import Composition
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.dual import redundant
from codegen.recursions.iteration import Iteration
from codegen.spatial import eliminated, zeros
from codegen.tracing.task import called, composed, part_of, results_of, stated, symbols_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.recursions.composition import Called
    from codegen.tracing.task import Task

FORWARD = ("aba", "ltl", "approximate_aba")
"""Forward dynamics without contacts."""

OF_ITERATIONS = ("mu", "lam0", "weight")
"""Arguments that change single steps of a proximal iteration more than what it settles at."""

LINEARISED = "_linearised"
"""How parts are called that give dynamics with their derivatives."""


class Implicit(Protocol):
    """Symbols of what is found by solving equations, its value, and products of its derivatives at these symbols."""

    @property
    def unknown(self) -> SX: ...
    @property
    def value(self) -> SX: ...
    def forward(self, x: SX, dx: SX) -> SX: ...
    def reverse(self, x: SX, w: SX) -> SX: ...
    def at(self, old: SX, new: SX) -> Implicit: ...


@dataclass(frozen=True, slots=True)
class Program:
    """Results y (a column) of arguments x (a column of symbols), and of the solutions that they are computed from.

    A solution may depend on those before it.
    """

    x: SX
    y: SX
    solutions: tuple[Implicit, ...] = ()

    def forward(self, dx: SX) -> SX:
        """dy along dx."""
        moved, along = self.x, dx
        for own in self.solutions:
            moved, along = vertcat(moved, own.unknown), vertcat(along, own.forward(moved, along))
        return self.solved(jtimes(self.y, moved, along))

    def reverse(self, weights: SX) -> SX:
        """The gradient of weights' y by x."""
        moved = vertcat(self.x, *[own.unknown for own in self.solutions])
        ends = [*accumulate((own.unknown.size1() for own in self.solutions), initial=self.x.size1())]
        found = jtimes(self.y, moved, weights, True)
        for own, start, end in reversed([*zip(self.solutions, ends, ends[1:], strict=False)]):
            found = found[:start] + own.reverse(moved[:start], found[start:end])
        return self.solved(found)

    def curved(self, weights: SX, dx: SX) -> SX:
        """How the gradient of weights' y by x changes along dx, one column or more, at constant weights.

        Of one solution, which is the result, its multipliers change as well: K du = -d(R_y' u).
        """
        if len(self.solutions) != 1 or not isinstance(own := self.solutions[0], Dynamics) or self.y is not own.unknown:
            return jtimes(self.reverse(weights), self.x, dx)
        u, n = SX.sym("u", weights.size1()), self.x.size1()
        both = vertcat(self.x, own.unknown)
        slope = gradient(own.contracted(u), both)
        change = jtimes(slope, both, vertcat(dx, own.forward(self.x, dx)))
        du = -own.solve(change[n:, :])
        found = change[:n, :] + jtimes(slope[:n], u, du)
        return -self.solved(substitute(found, u, densify(own.solve(weights))))

    def at(self, new: SX, x: SX) -> Program:
        """The same with expressions of other symbols x in the place of its arguments."""
        return Program(x, substitute(self.y, self.x, new), tuple(own.at(self.x, new) for own in self.solutions))

    def solved(self, expression: SX) -> SX:
        """An expression with the values of solutions in their places."""
        for own in reversed(self.solutions):
            expression = substitute(expression, own.unknown, own.value)
        return expression


@dataclass(frozen=True, slots=True)
class Dynamics:
    """Forward dynamics: the residual R of the unknown y as the lowered robot has it, `inner`.

    `response` is the value with symbols `causes` for tau (nv) and k, which are `given`.
    """

    unknown: SX
    residual: SX
    inner: SX
    response: SX
    causes: SX
    given: SX
    nv: int

    def __str__(self) -> str:
        return f"{self.unknown.size1()} unknowns of forward dynamics"

    @property
    def value(self) -> SX:
        """a, or a and lam."""
        return substitute(self.response, self.causes, self.given)

    def solve(self, w: SX) -> SX:
        """(dR/dy)^-1 w, of one column or more."""
        found = jtimes(self.response, self.causes, vertcat(w[: self.nv, :], -w[self.nv :, :]))
        return substitute(found, self.causes, self.given)

    def contracted(self, u: SX) -> SX:
        """u' R, with R along the unknown's coordinates."""
        return dot(jtimes(self.inner, self.unknown, u), self.residual)

    def forward(self, x: SX, dx: SX) -> SX:
        """dy along dx, of one column or more."""
        return -self.solve(jtimes(self.inner, self.unknown, jtimes(self.residual, x, dx), True))

    def reverse(self, x: SX, w: SX) -> SX:
        """The gradient of w' y by x."""
        return -jtimes(self.residual, x, jtimes(self.inner, self.unknown, self.solve(w)), True)

    def at(self, old: SX, new: SX) -> Dynamics:
        """The same with expressions in the place of symbols."""
        parts = (self.residual, self.inner, self.response, self.given)
        residual, inner, response, given = (substitute(x, old, new) for x in parts)
        return Dynamics(self.unknown, residual, inner, response, self.causes, given, self.nv)


@dataclass(frozen=True, slots=True)
class Root:
    """What an iteration finds: the root of `lack`, which solutions may be part of; K is its derivative."""

    unknown: SX
    value: SX
    lack: SX
    K: SX
    solutions: tuple[Implicit, ...]

    def __str__(self) -> str:
        return f"{self.unknown.size1()} unknowns of an iteration"

    def forward(self, x: SX, dx: SX) -> SX:
        """dy along dx."""
        return -eliminated(self.K, Program(x, self.lack, self.solutions).forward(dx))

    def reverse(self, x: SX, w: SX) -> SX:
        """The gradient of w' y by x."""
        return -Program(x, self.lack, self.solutions).reverse(eliminated(self.K.T, w))

    def at(self, old: SX, new: SX) -> Root:
        """The same with expressions in the place of symbols."""
        value, lack, K = (substitute(x, old, new) for x in (self.value, self.lack, self.K))
        return Root(self.unknown, value, lack, K, tuple(own.at(old, new) for own in self.solutions))


def program_of(task: Task, symbols: list[SX]) -> Program:
    """An algorithm, of these symbols of its arguments, with what it solves left unknown."""
    x, run = vertcat(*symbols), task.entry.run
    if isinstance(run, Composition):
        return composition(task, symbols)
    own = dynamics(task, symbols)
    return Program(x, column(results_of(task, symbols))) if own is None else Program(x, own.unknown, (own,))


def composition(task: Task, symbols: list[SX]) -> Program:
    """A step of time: the dynamics at every stage are solutions, and so is what an implicit step iterates for."""
    x, found = vertcat(*symbols), list[Implicit]()

    def leaving_unknown(task: Task, name: str, given: Mapping[str, SX]) -> Called:
        run, part = called(task, name, given), part_of(task, name.removesuffix(LINEARISED))
        ports = part.signature[0]
        own = symbols_of(ports)
        solution = dynamics(part, own)

        def call(**arguments: SX) -> tuple[SX, ...]:
            """The results, with unknowns in the place of accelerations and multipliers."""
            made = run(**arguments)
            if solution is None:
                return made
            columns = [vec(SX(arguments[p.name]).T) if p.name in arguments else given[p.name] for p in ports]
            unknown = SX.sym("y", solution.unknown.size1())
            moved = solution.at(vertcat(*own, solution.unknown), densify(vertcat(*columns, unknown)))
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
    return Program(x, column(results.finish(unknown)), (root,))


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
    held, needs = task.entry.declares.held, task.entry.needs(task.parameters)
    solution = dict(zip(("a", "lam"), parts, strict=False))
    stating = stated(task, replace(needs, held="", stiffened=False), task.signature[0], columns, solution)
    problem = lowered(stating, task.without)
    tree, given = problem.built, problem.arguments
    v, tau, f_ext, a = (given[name] for name in ("v", "tau", "f_ext", "a"))
    if task.entry.group != "constrained":
        return rnea(tree, v, a, f_ext) - tau, a
    if held != "softly" and redundant(tree, jacobian_transpose(tree).T):
        return None
    R, lam = given["R"] if held == "softly" else SX(0), given["lam"]
    return equations(tree, v, tau, f_ext, given["k"], R, a, lam), vertcat(a, lam)


def column(results: Sequence[SX]) -> SX:
    """Results below one another, row by row."""
    return vertcat(*[vec(result.T) for result in results])
