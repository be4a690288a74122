"""Stages of a function: expressions of its arguments, then those of numbers that loops or calls made of these, ..."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from casadi import SX

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

    def __str__(self) -> str:
        return f"{len(self.opened)} results are opened"

    def of_results(self, results: Sequence[Result]) -> Stages:
        """The same with other results opened."""
        return replace(self, opened=tuple((x, result) for (x, _), result in zip(self.opened, results, strict=True)))


NONE = Stages()
