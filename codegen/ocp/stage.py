"""A stage of an optimal control problem over SX, linearised with the exact Jacobians of the functions it calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi
from casadi import MX, SX, vec, vertcat

from codegen.ocp.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

OUTPUTS = ("zero", "zero_by", "lower", "upper", "bounded_by", "gradient", "hessian")
"""Results of a linearised stage: rows, their derivatives by [unknowns; next unknowns], and the cost's (upper half)."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function that a stage calls: its arguments as expressions, and symbols for its results and its Jacobian."""

    function: casadi.Function
    arguments: tuple[SX, ...]
    results: tuple[SX, ...]
    blocks: tuple[SX, ...]

    def __str__(self) -> str:
        return str(self.function)

    @classmethod
    def of(cls, function: casadi.Function, arguments: Iterable[SX], number: int) -> Call:
        """The call of this number in its stage."""
        jacobian = function.jacobian()
        results = (SX.sym(f"y{number}_{i}", function.sparsity_out(i)) for i in range(function.n_out()))
        blocks = (SX.sym(f"dy{number}_{i}", jacobian.sparsity_out(i)) for i in range(jacobian.n_out()))
        return cls(function, tuple(arguments), tuple(results), tuple(blocks))

    def by(self, arguments: list[SX]) -> Iterable[SX]:
        """The derivatives of the results, if these are the derivatives of the arguments."""
        width, number = arguments[0].size2(), len(arguments)
        for i, result in enumerate(self.results):
            blocks = self.blocks[i * number : (i + 1) * number]
            products = [b @ a for b, a in zip(blocks, arguments, strict=True) if b.nnz() and a.nnz()]
            yield sum(products, SX(result.numel(), width))


@dataclass(slots=True)
class Stage:
    """What holds at a node k, or between it and node k + 1: rows that are zero or bounded, and a cost.

    Unknowns are increments from a nominal trajectory, at which the stage is linearised. Write for instance
    `q = stage.call(integrate, q_nominal, dq)`, where q_nominal is a parameter. Expressions are CasADi's SX.
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
        self.unknowns[name], self.following[name] = SX.sym(name, size), SX.sym(f"{name}_next", size)
        return self.unknowns[name], self.following[name]

    def parameter(self, name: str, size: int) -> SX:
        """Numbers of this name that each node has its own of (size)."""
        self.parameters[name] = SX.sym(name, size)
        return self.parameters[name]

    def call(self, function: casadi.Function, *arguments: SX) -> Any:
        """The results of a function of `codegen.to_casadi`; one alone, or a list of several."""
        given = [SX(argument) for argument in arguments]
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
        self.moved[name] = sum(rows.numel() for rows in self.zero_rows)
        self.zero(increment - self.following[name])

    def bounded(self, lower: Any, rows: SX, upper: Any) -> None:
        """Constrain rows to be between bounds (numbers or parameters, one or as many as rows; infinity is none)."""
        size = rows.numel()
        low, up = (SX.ones(size) * SX(bound) for bound in (lower, upper))
        self.bounded_rows.append((low, vec(rows), up))

    def cost(self, weights: Any, residual: SX) -> None:
        """Add sum(weights * residual^2) / 2. Second derivatives of residuals are left out (Gauss-Newton)."""
        self.residuals.append(casadi.sqrt(SX(weights)) * vec(residual))

    def linearised(self, name: str, *, compile_c: bool = True) -> casadi.Function:
        """OUTPUTS as a function of the parameters, at increments of zero.

        What is between the called functions is compiled, too, unless `compile_c` is false: then CasADi's virtual
        machine evaluates it.
        """
        unknowns = vertcat(*self.unknowns.values(), *self.following.values())
        derivative = self._derivatives(unknowns)
        none = SX(0, 1)
        zero, residual = (vertcat(none, *rows) for rows in (self.zero_rows, self.residuals))
        low, rows, up = (vertcat(*parts) for parts in zip((none, none, none), *self.bounded_rows, strict=True))
        by = derivative(residual)
        vectors = [casadi.densify(x) for x in (zero, low - rows, up - rows, by.T @ residual)]
        outputs = (vectors[0], derivative(zero), *vectors[1:3], derivative(rows), vectors[3], casadi.triu(by.T @ by))
        ready: Callable[[casadi.Function], casadi.Function] = compiled if compile_c else lambda function: function
        return self._composed(name, unknowns, outputs, ready)

    def _derivatives(self, unknowns: SX) -> Callable[[SX], SX]:
        """A function that gives the derivative of an expression by the unknowns, through all calls."""
        known = [(unknowns, SX.eye(unknowns.numel()))]

        def derivative(expression: SX) -> SX:
            rows = vec(expression)
            parts = [(casadi.jacobian(rows, y), dy) for y, dy in known]
            return sum((part @ dy for part, dy in parts if part.nnz()), SX(rows.numel(), unknowns.numel()))

        for call in self.calls:
            by = call.by([derivative(argument) for argument in call.arguments])
            known.extend(list(zip(map(vec, call.results), by, strict=True)))
        return derivative

    def _composed(
        self, name: str, unknowns: SX, outputs: tuple[SX, ...], ready: Callable[[casadi.Function], casadi.Function]
    ) -> casadi.Function:
        """A function that evaluates the calls with their Jacobians, in order, and the expressions around them."""
        symbols = list(self.parameters.values())
        inputs = [MX.sym(key, x.sparsity()) for key, x in self.parameters.items()]
        values, blocks, found = list(inputs), list[SX](), list[MX]()

        def at_zero(part: str, expressions: Iterable[SX], of: list[SX]) -> casadi.Function:
            plain = casadi.substitute(list(expressions), [unknowns], [SX.zeros(unknowns.numel())])
            return ready(casadi.Function(f"{name}_{part}", of, plain))

        for number, call in enumerate(self.calls):
            arguments = at_zero(f"arguments{number}", call.arguments, symbols).call(values)
            results = call.function.call(arguments)
            found += call.function.jacobian().call(arguments + results)
            symbols, values, blocks = symbols + list(call.results), values + results, blocks + list(call.blocks)
        end = at_zero("rows", outputs, symbols + blocks)
        return casadi.Function(name, inputs, end.call(values + found), list(self.parameters), list(OUTPUTS))
