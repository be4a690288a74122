"""Exact first and second derivatives of expressions of a stage, through all the functions that it calls.

With w = [unknowns; results of the calls], W = dw/dz by the unknowns z, and A_k = da_k/dz of the arguments of call k,
the Hessian of a scalar s(w) is W' (d2/dw2) (s + sum_k (J_k' seed_k)' a_k) W + sum_k A_k' H_k A_k. The seed of a call is
the adjoint of its results, J_k is its Jacobian, and H_k the Hessian of seed_k' y_k by its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import casadi
from casadi import MX, SX, vec

from codegen.errors import RobotError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codegen.ocp.call import Call


Compiler = Callable[[casadi.Function], casadi.Function]


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made: derivatives of its arguments by the unknowns, and values of arguments and results."""

    call: Call
    by: list[SX]
    arguments: list[MX]
    results: list[MX]

    def __str__(self) -> str:
        return str(self.call)


@dataclass(slots=True)
class Chain:
    """Expressions over SX, and the functions that CasADi evaluates for them, one after the other.

    Expressions are made of `symbols`, with `values`, and of `zero`, which are zero. `part` compiles functions of SX, or
    leaves them as they are; `libraries` are those that it made. `known` are w and dw/dz, at first those of the
    unknowns.
    """

    name: str
    part: Compiler
    symbols: list[SX]
    values: list[MX]
    known: list[tuple[SX, SX]]
    zero: SX
    made: list[Made] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.name}: {len(self.made)} calls"

    def derivative(self, expression: SX) -> SX:
        """The derivative of an expression by the unknowns, through all calls."""
        rows, width = vec(expression), self.known[0][1].size2()
        parts = [(casadi.jacobian(rows, w), by) for w, by in self.known]
        return sum((part @ by for part, by in parts if part.nnz()), SX(rows.numel(), width))

    def evaluated(self, part: str, expressions: Sequence[SX]) -> list[MX]:
        """The values of expressions; RobotError if there are symbols in them that are not known."""
        plain = casadi.substitute(list(expressions), [self.zero], [SX.zeros(self.zero.shape)])
        free = {x.__hash__(): x.name() for x in casadi.symvar(casadi.veccat(*plain))}
        found = [{y.__hash__() for y in x.nonzeros()} & free.keys() for x in self.symbols]
        if unknown := free.keys() - set[int]().union(*found):
            names = ", ".join(sorted(free[key] for key in unknown))
            raise RobotError(f"{self.name}: {names} must be unknowns, parameters or results of calls of this stage")
        used = [k for k, some in enumerate(found) if some]
        symbols, values = [self.symbols[k] for k in used], [self.values[k] for k in used]
        function = self.part(casadi.Function(f"{self.name}_{part}", symbols, plain))
        self.libraries.extend(library for library in [getattr(function, "library", "")] if library)
        results: list[MX] = function.call(values)
        return results

    def learn(self, symbols: Iterable[SX], values: Iterable[MX]) -> None:
        """Let expressions have these symbols, too."""
        self.symbols.extend(symbols)
        self.values.extend(values)

    def make(self, call: Call) -> None:
        """Evaluate a call and its Jacobian."""
        arguments = self.evaluated(f"arguments{len(self.made)}", call.arguments)
        results = call.function.call(arguments)
        by = [self.derivative(argument) for argument in call.arguments]
        self.learn(call.results, results)
        self.learn(call.blocks, call.first.call(arguments + results))
        self.known.extend(zip(map(vec, call.results), call.by(by), strict=True))
        self.made.append(Made(call, by, arguments, results))

    def hessian(self, scalar: SX) -> SX:
        """The Hessian of a scalar by the unknowns; to be asked for once, when all calls are made.

        What is evaluated afterwards takes the Jacobians of calls from this evaluation.
        """
        found, total = SX(*2 * (self.known[0][1].size2(),)), scalar
        for number, made in reversed(list(enumerate(self.made))):
            call = made.call
            adjoints = [casadi.densify(casadi.gradient(total, y)) for y in call.results]
            seeds = [SX.sym(f"seed{number}_{i}", *y.shape) for i, y in enumerate(adjoints)]
            self.learn(seeds, self.evaluated(f"seeds{number}", adjoints))
            blocks = self._second(made, seeds, number)
            for row, left in zip(blocks, made.by, strict=True):
                found += sum(left.T @ x @ right for x, right in zip(row, made.by, strict=True) if x.nnz())
            slopes = call.pulled(seeds)
            total += sum(casadi.dot(slope, vec(x)) for slope, x in zip(slopes, call.arguments, strict=True))
        parts = [(by, self.derivative(casadi.gradient(total, w))) for w, by in self.known]
        return found + sum((by.T @ part for by, part in parts), SX(*found.shape))

    def _second(self, made: Made, seeds: list[SX], number: int) -> list[list[SX]]:
        """Blocks of the Hessian of seeds' results by the arguments: symbols, whose values are evaluated.

        The adjoints' derivatives by the seeds are the Jacobian, which needs no evaluation of its own then.
        """
        call, count, width = made.call, len(made.arguments), len(made.arguments) + 2 * len(made.results)
        function = call.second
        nominal = [MX(*call.function.size_in(i)) for i in range(count)]
        values = function.call(made.arguments + made.results + self.values[-len(seeds) :] + nominal)
        for i, block in enumerate(call.blocks):
            row, column = divmod(i, count)
            self.values[self._place(block)] = values[column * width + width - len(seeds) + row].T
        wanted = [i * width + j for i in range(count) for j in range(count)]
        symbols = [SX.sym(f"ddy{number}_{k}", function.sparsity_out(k)) for k in wanted]
        self.learn(symbols, [values[k] for k in wanted])
        return [symbols[i * count :][:count] for i in range(count)]

    def _place(self, symbol: SX) -> int:
        return next(k for k, x in enumerate(self.symbols) if x is symbol)
