"""Stages of a function: expressions of its arguments, then those of numbers that loops or calls made of these, ..."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from casadi import SX, symvar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Port
    from codegen.recursions.products import Result


@dataclass(frozen=True, slots=True)
class Stages:
    """A function's arguments, symbols `given` at `ports`, and what was `opened`: symbols and results.

    Every opened result is made of the arguments and of what was opened before it.
    """

    given: tuple[SX, ...] = ()
    ports: tuple[Port, ...] = ()
    opened: tuple[tuple[SX, Result], ...] = ()
    known: dict[int, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{len(self.opened)} results are opened"

    def of(self, matrix: SX) -> int:
        """The stage of an expression: 0 of arguments alone, else the number of the last that it takes, from 1 on."""
        return max((self.known.get(x.element_hash(), 0) for x in symvar(matrix)), default=0) if self.known else 0

    def of_results(self, results: Sequence[Result]) -> Stages:
        """The same with other results opened, and the stages of symbols."""
        opened = tuple((x, result) for (x, _), result in zip(self.opened, results, strict=True))
        known = {x.element_hash(): k for k, (column, _) in enumerate(opened, 1) for x in symvar(column)}
        return replace(self, opened=opened, known=known)


NONE = Stages()
