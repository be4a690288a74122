"""Calls of functions by the stage of an optimal control problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from casadi import SX, vec

from codegen.errors import RobotError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import casadi


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
        """The call of this number in its stage; RobotError for a function without derivatives."""
        try:
            jacobian = function.jacobian()
        except RuntimeError:
            raise RobotError(f"{function.name()} has no derivatives; give `to_casadi` derivatives=1 or 2") from None
        results = (SX.sym(f"y{number}_{i}", function.sparsity_out(i)) for i in range(function.n_out()))
        blocks = (SX.sym(f"dy{number}_{i}", jacobian.sparsity_out(i)) for i in range(jacobian.n_out()))
        return cls(function, tuple(arguments), tuple(results), tuple(blocks))

    @property
    def second(self) -> casadi.Function:
        """The Jacobian of the adjoint; RobotError for a function without it."""
        try:
            return self.function.reverse(1).jacobian()
        except RuntimeError:
            name = self.function.name()
            raise RobotError(f"{name} has no second derivatives; give `to_casadi` derivatives=2") from None

    def by(self, arguments: list[SX]) -> Iterable[SX]:
        """The derivatives of the results, if these are the derivatives of the arguments."""
        width, number = arguments[0].size2(), len(arguments)
        for i, result in enumerate(self.results):
            blocks = self.blocks[i * number : (i + 1) * number]
            products = [b @ a for b, a in zip(blocks, arguments, strict=True) if b.nnz() and a.nnz()]
            yield sum(products, SX(result.numel(), width))

    def pulled(self, seeds: list[SX]) -> list[SX]:
        """The derivative of seeds' results by each argument (a column)."""
        found, number = list[SX](), len(self.arguments)
        for j, argument in enumerate(self.arguments):
            parts = [self.blocks[i * number + j].T @ vec(seed) for i, seed in enumerate(seeds)]
            found.append(sum(parts, SX(argument.numel(), 1)))
        return found


def fitting(function: casadi.Function, arguments: Iterable[SX]) -> list[SX]:
    """Arguments that a function takes; RobotError if there are more or fewer, or others."""
    given, wanted = [SX(x) for x in arguments], [function.size_in(i) for i in range(function.n_in())]
    if [x.shape for x in given] != wanted:
        sizes = ", ".join(f"{name} ({m} x {n})" for name, (m, n) in zip(function.name_in(), wanted, strict=True))
        told = ", ".join(f"{m} x {n}" for m, n in (x.shape for x in given)) or "nothing"
        raise RobotError(f"{function.name()} takes {sizes}, not {told}")
    return given
