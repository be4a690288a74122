"""Calls of functions by the stage of an optimal control problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from casadi import SX, vec

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

    def pulled(self, seeds: list[SX]) -> list[SX]:
        """The derivative of seeds' results by each argument (a column)."""
        found, number = list[SX](), len(self.arguments)
        for j, argument in enumerate(self.arguments):
            parts = [self.blocks[i * number + j].T @ vec(seed) for i, seed in enumerate(seeds)]
            found.append(sum(parts, SX(argument.numel(), 1)))
        return found
