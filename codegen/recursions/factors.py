"""Factors of symmetric matrices: as expressions, or as results by which loops solve, and numbers of these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from casadi import SX

from codegen.recursions.products import Product, Result
from codegen.recursions.scaling import negated
from codegen.recursions.systems import Factored, Substituted

Numbers = Callable[[Result], SX]
"""What makes expressions of results."""


@dataclass(frozen=True, slots=True)
class LoopedLDL:
    """A = L D L' by loops: what `codegen.spatial.LDL` gives as expressions, as results."""

    factored: Factored

    @property
    def size(self) -> int:
        """The order n of the system."""
        return self.factored.shape[0]

    def forward(self, B: Result) -> Result:
        """L^-1 B for a matrix B of n rows."""
        return Substituted(self.factored, None if _is_one(B) else B, "forward")

    def scale(self, B: Result) -> Result:
        """D^-1 B."""
        return Substituted(self.factored, B, "scale")

    def backward(self, B: Result) -> Result:
        """L'^-1 B."""
        return Substituted(self.factored, B, "backward")

    def solve(self, B: Result) -> Result:
        """A^-1 B."""
        return self.inverse() if _is_one(B) else self.backward(self.scale(self.forward(B)))

    def inverse(self) -> Result:
        """A^-1, of which the upper triangle is computed."""
        half = self.forward(SX.eye(self.size))
        return Product(half, self.scale(half), transposed=True, symmetric=True)


def _is_one(B: Result) -> bool:
    return isinstance(B, SX) and bool(B.is_eye())


class Factors(Protocol):
    """Either of these: of expressions L and D make expressions."""

    @property
    def size(self) -> int:
        """The order n of the system."""

    def forward(self, B: Any) -> Any:
        """L^-1 B for a matrix B of n rows."""

    def scale(self, B: Any) -> Any:
        """D^-1 B."""

    def backward(self, B: Any) -> Any:
        """L'^-1 B."""

    def solve(self, B: Any) -> Any:
        """A^-1 B."""

    def inverse(self) -> Any:
        """A^-1, symmetric."""


def negative_inverse(factors: Factors) -> Result:
    """-A^-1 = -L'^-1 D^-1 L^-1."""
    half = factors.forward(SX.eye(factors.size))
    return Product(half, negated(factors.scale(half)), transposed=True, symmetric=True)


@dataclass(frozen=True, slots=True)
class NumberedLDL:
    """The same whose results are opened: expressions go on with their numbers."""

    factors: LoopedLDL
    numbers: Numbers

    def forward(self, B: SX) -> SX:
        """L^-1 B for a matrix B of n rows."""
        return self.numbers(self.factors.forward(B))

    def scale(self, B: SX) -> SX:
        """D^-1 B."""
        return self.numbers(self.factors.scale(B))

    def backward(self, B: SX) -> SX:
        """L'^-1 B."""
        return self.numbers(self.factors.backward(B))

    def solve(self, B: SX) -> SX:
        """A^-1 B."""
        return self.numbers(self.factors.solve(B))
