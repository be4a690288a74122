"""Calls of functions by the stage of an optimal control problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi
from casadi import MX, SX, vec

from codegen.errors import RobotError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Call:
    """A function that a stage calls: its arguments as expressions, and symbols for its results and its Jacobian.

    `first` gives the values of `symbols`, the Jacobian's blocks, of arguments and results. Of a function that has its
    Jacobian from its adjoint they are the blocks transposed (`turned`).
    """

    function: casadi.Function
    first: casadi.Function
    arguments: tuple[SX, ...]
    results: tuple[SX, ...]
    symbols: tuple[SX, ...]
    turned: bool

    def __str__(self) -> str:
        return str(self.function)

    @classmethod
    def of(cls, function: casadi.Function, arguments: Iterable[SX], number: int) -> Call:
        """The call of this number in its stage; RobotError for a function without derivatives."""
        first, turned = jacobian(function)
        results = (SX.sym(f"y{number}_{i}", function.sparsity_out(i)) for i in range(function.n_out()))
        symbols = (SX.sym(f"dy{number}_{i}", first.sparsity_out(i)) for i in range(first.n_out()))
        return cls(function, first, tuple(arguments), tuple(results), tuple(symbols), turned)

    @property
    def blocks(self) -> list[SX]:
        """The derivative of each result by each argument."""
        return [x.T if self.turned else x for x in self.symbols]

    @property
    def constant(self) -> tuple[str, ...]:
        """The arguments by which the function has no derivatives that are right."""
        return getattr(self.function, "constant", ())

    @property
    def second(self) -> casadi.Function:
        """The Jacobian of the adjoint; RobotError for a function without it."""
        return second(self.function)

    def by(self, arguments: list[SX]) -> Iterable[SX]:
        """The derivatives of the results, if these are the derivatives of the arguments."""
        width, number, blocks = arguments[0].size2(), len(arguments), self.blocks
        for i, result in enumerate(self.results):
            row = blocks[i * number : (i + 1) * number]
            products = [b @ a for b, a in zip(row, arguments, strict=True) if b.nnz() and a.nnz()]
            yield sum(products, SX(result.numel(), width))

    def pulled(self, seeds: list[SX]) -> list[SX]:
        """The derivative of seeds' results by each argument (a column)."""
        found, number, blocks = list[SX](), len(self.arguments), self.blocks
        for j, argument in enumerate(self.arguments):
            parts = [blocks[i * number + j].T @ vec(seed) for i, seed in enumerate(seeds)]
            found.append(sum(parts, SX(argument.numel(), 1)))
        return found


def jacobian(function: casadi.Function) -> tuple[casadi.Function, bool]:
    """The Jacobian and false; for a function without one that of the adjoint's, whose blocks are transposed, and true.

    RobotError if there is neither.
    """
    try:
        return function.jacobian(), False
    except RuntimeError:
        whole = _exported(function)
    if whole is None:
        raise RobotError(f"{function.name()} has no derivatives; give `to_casadi` derivatives=1 or 2")
    count, results = function.n_in(), function.n_out()
    width = count + 2 * results
    inputs = [MX.sym(function.name_in(i), function.sparsity_in(i)) for i in range(count)]
    nominal = [MX.sym(f"out_{function.name_out(i)}", function.size_out(i)) for i in range(results)]
    seeds = [MX.zeros(*function.size_out(i)) for i in range(results)]
    values = whole.call([*inputs, *nominal, *seeds, *(MX(*function.size_in(i)) for i in range(count))])
    found = [values[j * width + count + results + i] for i in range(results) for j in range(count)]
    return casadi.Function(f"jac_{function.name()}", [*inputs, *nominal], found), True


def second(function: casadi.Function) -> casadi.Function:
    """The Jacobian of the adjoint; RobotError for a function without it."""
    if (whole := _exported(function)) is not None:
        return whole
    try:
        return function.reverse(1).jacobian()
    except RuntimeError:
        raise RobotError(f"{function.name()} has no second derivatives; give `to_casadi` derivatives=2") from None


def _exported(function: casadi.Function) -> casadi.Function | None:
    """The Jacobian of the adjoint that a library has, also where it has no adjoint."""
    path = getattr(function, "library", "")
    try:
        return casadi.external(f"jac_adj1_{function.name()}", path) if path else None
    except RuntimeError:
        return None


def fitting(function: casadi.Function, arguments: Iterable[SX]) -> list[SX]:
    """Arguments that a function takes; RobotError if there are more or fewer, or others."""
    given, wanted = [SX(x) for x in arguments], [function.size_in(i) for i in range(function.n_in())]
    if [x.shape for x in given] != wanted:
        sizes = ", ".join(f"{name} ({m} x {n})" for name, (m, n) in zip(function.name_in(), wanted, strict=True))
        told = ", ".join(f"{m} x {n}" for m, n in (x.shape for x in given)) or "nothing"
        raise RobotError(f"{function.name()} takes {sizes}, not {told}")
    return given
