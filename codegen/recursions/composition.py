"""Compositions: algorithms that call others, at any configuration, instead of running over a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from casadi import SX

from codegen.recursions.expansion import entries
from codegen.recursions.factors import Factors, NumberedLDL
from codegen.recursions.products import Result, substituted
from codegen.recursions.systems import Solved
from codegen.spatial import LDL, ldl, semidefinite_ldl

Called = Callable[..., tuple[Any, ...]]
"""An algorithm as a function: it takes arguments by name, those not named are the composition's own.

It is made of the `parts` that it is given.
"""

OfColumns = Callable[..., tuple[Any, ...]]
"""A function of columns."""

Divided = Callable[..., tuple[Any, ...]]
"""The same, which takes the parts that it is made of first."""


class Parts(Protocol):
    """How a composition is made of parts: as one expression, or as C functions and loops."""

    def once(self, function: Divided, least: int | None = None) -> OfColumns:
        """The same function, of which C has one copy, however often it is called; of fewer operations, copies."""

    def apart(self, symbols: Sequence[SX]) -> Parts:
        """Parts of a function of these symbols, whose results may then be wanted elsewhere."""

    def at(
        self, apart: Parts, results: tuple[Result, ...], symbols: Sequence[SX], columns: Sequence[SX]
    ) -> tuple[Result, ...]:
        """Results made of parts `apart` and of these symbols, at these columns."""

    def numbers(self, result: Result) -> SX:
        """What a result is, for expressions that take its numbers."""

    def many(self, rows: int) -> bool:
        """Whether loops are to make what belongs to so many rows of contacts."""

    def factors(self, matrix: Result, part: float = 0.0, size: SX | None = None) -> Factors:
        """The factors of such a matrix; with a `part`, semidefinite ones (`codegen.spatial.semidefinite_ldl`)."""

    def ldl(self, matrix: SX, part: float = 0.0, size: SX | None = None) -> Factors | NumberedLDL:
        """The same for expressions."""

    def solved(self, system: Solved) -> Result:
        """The solution of a system, with any pivots: entry by entry where it is small."""

    @property
    def opened(self) -> tuple[tuple[SX, Result], ...]:
        """Symbols that stand for numbers of results, and these."""


class Inline:
    """All as one expression."""

    opened: tuple[tuple[SX, Result], ...] = ()

    def once(self, function: Divided, least: int | None = None) -> OfColumns:
        """The function itself."""
        return partial(function, self)

    def apart(self, symbols: Sequence[SX]) -> Inline:
        """The same."""
        return self

    def at(
        self,
        apart: Parts,
        results: tuple[Result, ...],
        symbols: Sequence[SX],
        columns: Sequence[SX],
    ) -> tuple[Result, ...]:
        """With the columns in the place of symbols."""
        return substituted(results, symbols, columns)

    def numbers(self, result: Result) -> SX:
        """The result, entry by entry."""
        return entries((result,))[0]

    def many(self, rows: int) -> bool:
        """None are."""
        return False

    def factors(self, matrix: Result, part: float = 0.0, size: SX | None = None) -> LDL:
        """Its factors, entry by entry."""
        return self.ldl(self.numbers(matrix), part, size)

    def ldl(self, matrix: SX, part: float = 0.0, size: SX | None = None) -> LDL:
        """The same."""
        return semidefinite_ldl(matrix, size, part) if part else ldl(matrix)

    def solved(self, system: Solved) -> SX:
        """It, entry by entry."""
        return self.numbers(system)


INLINE = Inline()


@dataclass(frozen=True, slots=True)
class Composition:
    """A function of other algorithms, by their names, and of its own arguments, by theirs.

    If it `divides`, it is told first how it is made of parts.
    """

    run: Callable[..., Any]
    parts: tuple[str, ...]
    takes: tuple[str, ...] = ("q", "v", "tau", "dt")
    divides: bool = False

    def __str__(self) -> str:
        return f"{self.run.__name__} of {', '.join(self.parts)}"

    def __call__(self, parts: Parts, *arguments: Any) -> Any:
        """What it computes of the parts, as functions, and the arguments."""
        return self.run(*([parts] if self.divides else []), *arguments)
