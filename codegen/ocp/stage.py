"""A stage of an optimal control problem over SX, linearised with the exact Jacobians of the functions it calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from casadi import MX, SX, vec, vertcat

from codegen.errors import RobotError
from codegen.ocp.call import Call, fitting
from codegen.ocp.chain import Chain
from codegen.ocp.compiled import compiled
from codegen.ocp.parts import as_it_is, parts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.ocp.chain import Compiler

OUTPUTS = ("zero", "zero_by", "lower", "upper", "bounded_by", "gradient", "hessian")
"""Results of a linearised stage: rows, their derivatives by [unknowns; next unknowns], and the cost's (upper half)."""


@dataclass(slots=True)
class Stage:
    """What holds at a node k, or between it and node k + 1: rows that are zero or bounded, and a cost.

    Unknowns are increments from a nominal trajectory, at which the stage is linearised. Write for instance
    `q = stage.call(integrate, q_nominal, dq)`, where q_nominal is a parameter. Expressions are CasADi's SX. RobotError
    for names, sizes and numbers that do not fit.
    """

    unknowns: dict[str, SX] = field(default_factory=dict)
    following: dict[str, SX] = field(default_factory=dict)
    parameters: dict[str, SX] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    zero_rows: list[SX] = field(default_factory=list)
    bounded_rows: list[tuple[SX, SX, SX]] = field(default_factory=list)
    residuals: list[SX] = field(default_factory=list)
    moved: dict[str, int] = field(default_factory=dict)
    """States with an explicit next increment, and the first of their rows among `zero_rows`."""

    def unknown(self, name: str, size: int) -> tuple[SX, SX]:
        """Increments of this name at the node and at the next one (size)."""
        _new(name, self.unknowns, size)
        self.unknowns[name], self.following[name] = SX.sym(name, size), SX.sym(f"{name}_next", size)
        return self.unknowns[name], self.following[name]

    def parameter(self, name: str, size: int) -> SX:
        """Numbers of this name that each node has its own of (size)."""
        _new(name, self.parameters, size)
        self.parameters[name] = SX.sym(name, size)
        return self.parameters[name]

    def call(self, function: casadi.Function, *arguments: SX) -> Any:
        """The results of a function of `codegen.to_casadi`; one alone, or a list of several."""
        given = fitting(function, arguments)
        if function.is_a("SXFunction"):
            results = function.call(given)
        else:
            self.calls.append(Call.of(function, given, len(self.calls)))
            results = list(self.calls[-1].results)
        return results[0] if len(results) == 1 else results

    def zero(self, *rows: SX) -> None:
        """Constrain rows to zero."""
        self.zero_rows.extend(vec(SX(row)) for row in rows)

    def moves(self, name: str, increment: SX) -> None:
        """Say what the increment of this name is at the next node: the same as `zero(increment - next)`.

        `Riccati` eliminates such states without a multiplier.
        """
        if name not in self.unknowns or name in self.moved or increment.numel() != self.unknowns[name].numel():
            raise RobotError(f"moves: {name!r} is no unknown of {increment.numel()} elements, or is moved already")
        self.moved[name] = sum(rows.numel() for rows in self.zero_rows)
        self.zero(increment - self.following[name])

    def bounded(self, lower: Any, rows: SX, upper: Any) -> None:
        """Constrain rows to be between bounds (numbers or parameters, one or as many as rows; infinity is none)."""
        low, up = (_each(bound, rows.numel(), "bounds") for bound in (lower, upper))
        below = all(x < inf for x in _numbers(low)) and all(x > -inf for x in _numbers(up))
        if not (below and all(x >= 0 for x in _numbers(up - low))):
            raise RobotError(f"bounds: {lower} must be below {upper}")
        self.bounded_rows.append((low, vec(rows), up))

    def cost(self, weights: Any, residual: SX) -> None:
        """Add sum(weights * residual^2) / 2. Second derivatives of residuals are left out unless Hessians are exact."""
        each = _each(weights, residual.numel(), "weights")
        if not all(0 <= x < inf for x in _numbers(each)):
            raise RobotError(f"weights: {weights}: finite numbers that are not negative are needed")
        self.residuals.append(casadi.sqrt(each) * vec(residual))

    def linearised(
        self, name: str, *, compile_c: bool = True, exact: tuple[float, float] | None = None
    ) -> casadi.Function:
        """OUTPUTS as a function of the parameters, at increments of zero.

        What is between the called functions is compiled, too, unless `compile_c` is false: then CasADi's virtual
        machine evaluates it. With `exact` = (barrier, near) the Hessian is not that of Gauss and Newton: it has the
        second derivatives of residuals, and those of bounded rows with the forces of these barriers of `Riccati`. Those
        of rows that are zero are left out.
        """
        inputs = {key: MX.sym(key, x.sparsity()) for key, x in self.parameters.items()}
        libraries = linked(self) if compile_c else None
        chain = self.chain(name, inputs, parts_of(libraries) if compile_c else as_it_is)
        zero, residual, low, rows, up = self.parts()
        by = chain.derivative(residual)
        hessian = by.T @ by
        if exact is not None:
            weights = SX.sym("forces", rows.numel()), SX.sym("residual", residual.numel())
            forces = pushes(low, rows, up, *exact)
            chain.learn(weights, chain.evaluated("weights", [forces, casadi.densify(residual)]))
            hessian += chain.hessian(casadi.dot(weights[0], rows) + casadi.dot(weights[1], residual))
        rows_of = chain.evaluated("rows", [casadi.densify(x) for x in (zero, low - rows, up - rows)])
        slope, upper = casadi.densify(by.T @ residual), casadi.triu(hessian)
        matrices = [chain.derivative(zero), chain.derivative(rows), slope, upper]
        zero_by, *others = chain.evaluated("derivatives", matrices)
        outputs = [rows_of[0], zero_by, *rows_of[1:], *others]
        whole = casadi.Function(name, list(inputs.values()), outputs, list(inputs), list(OUTPUTS))
        return whole if libraries is None else compiled(whole, [*libraries, *chain.libraries])

    def parts(self) -> tuple[SX, ...]:
        """Rows that are zero, residuals of the cost, and lower bounds, bounded rows and upper bounds (columns)."""
        none = SX(0, 1)
        zero, residual = (vertcat(none, *rows) for rows in (self.zero_rows, self.residuals))
        bounded = (vertcat(*parts) for parts in zip((none, none, none), *self.bounded_rows, strict=True))
        return zero, residual, *bounded

    def moves_first(self) -> list[tuple[str, int]]:
        """States with an explicit next increment, in the order of the unknowns, and the first of their zero rows."""
        return [(name, self.moved[name]) for name in self.unknowns if name in self.moved]

    def chain(self, name: str, given: dict[str, MX], part: Compiler, at: MX | None = None) -> Chain:
        """The calls, made with their Jacobians for parameters that are `given`, `at` unknowns or where they are zero.

        Unknowns are those of the node, then those of the next one (a column). `part` compiles what is between calls.
        """
        unknowns = vertcat(*self.unknowns.values(), *self.following.values())
        symbols, values = [self.parameters[key] for key in given], list(given.values())
        if at is not None:
            symbols, values = [unknowns, *symbols], [at, *values]
        known = [(unknowns, SX.eye(unknowns.numel()))]
        chain = Chain(name, part, symbols, values, known, unknowns if at is None else SX(0, 1))
        for call in self.calls:
            chain.make(call)
        return chain


def linked(*stages: Stage) -> list[str] | None:
    """The libraries of all functions that stages call, or None if these cannot be linked.

    A function may have no library that is known, and two libraries may define the same one.
    """
    libraries = dict[str, str]()
    for call in (call for stage in stages for call in stage.calls):
        name, path = call.function.name(), getattr(call.function, "library", "")
        if not path or libraries.setdefault(name, path) != path:
            return None
    return list(dict.fromkeys(libraries.values()))


def _new(name: str, there: Mapping[str, SX], size: int) -> None:
    if name in there or not isinstance(size, (int, np.integer)) or size < 0:
        raise RobotError(f"{name!r} of size {size}: a name that is not used yet and a number of elements are needed")


def _each(given: Any, size: int, name: str) -> SX:
    """One number or expression for each row."""
    values = vec(SX(given))
    if values.numel() not in (1, size):
        raise RobotError(f"{name}: {values.numel()} are given for {size} rows; give one, or one for each")
    return SX.ones(size) * values


def _numbers(expression: SX) -> list[float]:
    """The elements that are numbers."""
    return [float(x) for x in casadi.vertsplit(expression) if x.is_constant()]


def pushes(lower: SX, rows: SX, upper: SX, barrier: float, near: float) -> SX:
    """The forces of barriers at both bounds of rows; bounds that are infinite have none."""
    low, up = (
        [k for k, x in enumerate(casadi.vertsplit(bound)) if not (x.is_constant() and abs(float(x)) == inf)]
        for bound in (lower, upper)
    )
    found = SX.zeros(rows.numel())
    found[low] += force(rows[low] - lower[low], barrier, near)
    found[up] -= force(upper[up] - rows[up], barrier, near)
    return found


def force(slack: SX, barrier: float, near: float) -> SX:
    """The derivative of `Riccati`'s relaxed barrier by the slack."""
    far = casadi.fmax(slack, near)
    return -barrier / far + barrier / near**2 * casadi.fmin(slack - near, 0)
