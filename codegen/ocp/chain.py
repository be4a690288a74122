"""Exact first and second derivatives of expressions of a stage, through all the functions that it calls.

With w = [unknowns; results of the calls], W = dw/dz by the unknowns z, and A_k = da_k/dz of the arguments of call k,
the Hessian of a scalar s(w) is W' (d2/dw2) (s + sum_k (J_k' seed_k)' a_k) W + sum_k A_k' H_k A_k. The seed of a call is
the adjoint of its results, J_k is its Jacobian, and H_k the Hessian of seed_k' y_k by its arguments. Blocks of several
calls by the same arguments are added before they are multiplied by A_k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import casadi
from casadi import MX, SX, vec

from codegen.errors import RobotError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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


@dataclass(frozen=True, slots=True)
class Congruences:
    """A_k' H A_l by pairs of arguments' derivatives A, each with the sum of all blocks H that belong to it."""

    factors: list[SX] = field(default_factory=list)
    blocks: dict[tuple[int, int], SX] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{len(self.blocks)} products with {len(self.factors)} factors"

    def add(self, by: Sequence[SX], blocks: Sequence[Sequence[SX]]) -> None:
        """Add the blocks of a call, row by row, by its arguments' derivatives."""
        places = [self._place(factor) for factor in by]
        for k, row in zip(places, blocks, strict=True):
            for j, block in zip(places, row, strict=True):
                self.blocks[k, j] = self.blocks[k, j] + block if (k, j) in self.blocks else block

    def _place(self, factor: SX) -> int:
        place = next((k for k, x in enumerate(self.factors) if same(x, factor)), len(self.factors))
        if place == len(self.factors):
            self.factors.append(factor)
        return place

    def products(self) -> Iterator[SX]:
        """All products."""
        for (k, j), block in self.blocks.items():
            if block.nnz() and self.factors[k].nnz() and self.factors[j].nnz():
                yield self.factors[k].T @ block @ self.factors[j]


def _column(x: SX) -> SX:
    """The nonzeros, which need no pattern."""
    return vec(x.nz[:])


def _nonzeros(x: MX, where: casadi.Sparsity) -> MX:
    return casadi.sparsity_cast(casadi.project(x, where), casadi.Sparsity.dense(where.nnz(), 1))


def same(x: SX, y: SX) -> bool:
    """Whether these are the same elements at the same places."""
    return bool(x.sparsity() == y.sparsity() and casadi.is_equal(x, y))


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
        """The values of expressions; RobotError if there are symbols in them that are not known.

        Symbols need no evaluation, and neither do numbers.
        """
        plain = casadi.substitute(list(expressions), [self.zero], [SX.zeros(self.zero.shape)])
        known = [self._value(x) for x in plain]
        made = iter(self._computed(part, [x for x, value in zip(plain, known, strict=True) if value is None]))
        return [next(made) if value is None else value for value in known]

    def _value(self, expression: SX) -> MX | None:
        """The value of what is one of the symbols, or constant."""
        if expression.is_constant():
            return MX(casadi.evalf(expression))
        return next((value for x, value in zip(self.symbols, self.values, strict=True) if same(x, expression)), None)

    def _computed(self, part: str, plain: Sequence[SX]) -> list[MX]:
        if not plain:
            return []
        free = {x.__hash__(): x.name() for x in casadi.symvar(casadi.veccat(*plain))}
        found = [{y.__hash__() for y in x.nonzeros()} & free.keys() for x in self.symbols]
        if unknown := free.keys() - set[int]().union(*found):
            names = ", ".join(sorted(free[key] for key in unknown))
            raise RobotError(f"{self.name}: {names} must be unknowns, parameters or results of calls of this stage")
        used = [k for k, some in enumerate(found) if some]
        symbols = [_column(self.symbols[k]) for k in used]
        values = [_nonzeros(self.values[k], self.symbols[k].sparsity()) for k in used]
        function = self.part(casadi.Function(f"{self.name}_{part}", symbols, [_column(x) for x in plain]))
        self.libraries.extend(library for library in [getattr(function, "library", "")] if library)
        columns = [casadi.densify(y) for y in function.call(values)]  # what CasADi knows to be zero has no nonzeros
        return [casadi.sparsity_cast(y, x.sparsity()) for x, y in zip(plain, columns, strict=True)]

    def learn(self, symbols: Iterable[SX], values: Iterable[MX]) -> None:
        """Let expressions have these symbols, too."""
        self.symbols.extend(symbols)
        self.values.extend(values)

    def make(self, call: Call) -> None:
        """Evaluate a call and its Jacobian."""
        arguments = self.evaluated(f"arguments{len(self.made)}", call.arguments)
        results = call.function.call(arguments)
        by = [self.derivative(argument) for argument in call.arguments]
        if some := [
            name for name, x in zip(call.function.name_in(), by, strict=True) if x.nnz() and name in call.constant
        ]:
            raise RobotError(f"{call}: {some[0]} depends on unknowns; leave it out of `constant` arguments")
        self.learn(call.results, results)
        self.learn(call.symbols, call.first.call(arguments + results))
        self.known.extend(zip(map(vec, call.results), call.by(by), strict=True))
        self.made.append(Made(call, by, arguments, results))

    def hessian(self, scalar: SX) -> SX:
        """The Hessian of a scalar by the unknowns; to be asked for once, when all calls are made.

        What is evaluated afterwards takes the Jacobians of calls from this evaluation.
        """
        found, total = Congruences(), scalar
        for number, made in reversed(list(enumerate(self.made))):
            call = made.call
            adjoints = [casadi.sparsify(casadi.gradient(total, y)) for y in call.results]
            values = self.evaluated(f"seeds{number}", [*map(casadi.densify, adjoints)])
            blocks = self._second(made, values, number)
            if any(y.nnz() for y in adjoints):
                found.add(made.by, blocks)
            seeds = [SX.sym(f"seed{number}_{i}", *y.shape) if y.nnz() else y for i, y in enumerate(adjoints)]
            self.learn(seeds, values)
            slopes = call.pulled(seeds)
            total += sum(casadi.dot(slope, vec(x)) for slope, x in zip(slopes, call.arguments, strict=True))
        parts = [by.T @ self.derivative(casadi.gradient(total, w)) for w, by in self.known]
        return sum(found.products(), sum(parts, SX(*2 * (self.known[0][1].size2(),))))

    def _second(self, made: Made, seeds: list[MX], number: int) -> list[list[SX]]:
        """Blocks of the Hessian of seeds' results by the arguments: symbols, whose values are evaluated.

        The adjoints' derivatives by the seeds are the Jacobian, which needs no evaluation of its own then.
        """
        call, count, width = made.call, len(made.arguments), len(made.arguments) + 2 * len(made.results)
        function = call.second
        nominal = [MX(*call.function.size_in(i)) for i in range(count)]
        values = function.call(made.arguments + made.results + seeds + nominal)
        for i, block in enumerate(call.symbols):
            row, column = divmod(i, count)
            value = values[column * width + width - len(seeds) + row]
            self.values[self._place(block)] = value if call.turned else value.T
        half = {(i, j): i * width + j for i in range(count) for j in range(i, count)}
        symbols = {at: SX.sym(f"ddy{number}_{k}", function.sparsity_out(k)) for at, k in half.items()}
        self.learn(symbols.values(), [values[k] for k in half.values()])
        return [[symbols[i, j] if i <= j else symbols[j, i].T for j in range(count)] for i in range(count)]

    def _place(self, symbol: SX) -> int:
        return next(k for k, x in enumerate(self.symbols) if x is symbol)
