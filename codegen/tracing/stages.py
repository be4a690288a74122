"""Stages of a function: expressions of its arguments, then those of numbers that loops or calls made of these, ..."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from casadi import SX, densify, depends_on, substitute, vec, veccat

from codegen.recursions.products import leaves, rebuilt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Port
    from codegen.recursions.products import Result

    Opened = tuple[tuple[SX, Result], ...]
    """Symbols of numbers, and the results that have them."""


@dataclass(frozen=True, slots=True)
class Stages:
    """A function's arguments, symbols `given` at `ports`, and what was `opened`: symbols and results.

    Every opened result is made of the arguments and of what was opened before it. Symbols of some may be `expressions`
    after all.
    """

    given: tuple[SX, ...] = ()
    ports: tuple[Port, ...] = ()
    opened: Opened = ()
    expressions: tuple[tuple[SX, SX], ...] = ()

    def __str__(self) -> str:
        return f"{len(self.opened)} results are opened"

    def of_results(self, made: Sequence[Result], results: Sequence[Result]) -> tuple[Stages, tuple[Result, ...]]:
        """The same where what was opened is made so, and the function's results.

        What is made as an expression takes the place of its symbols.
        """
        old, new = list[SX](), list[SX]()
        left: list[tuple[SX, Result]] = []
        for (symbols, _), own in zip(self.opened, made, strict=True):
            if isinstance(own, SX):
                new.append(densify(substitute([vec(own)], old, new)[0] if old else vec(own)))
                old.append(vec(symbols))
            else:
                left.append((symbols, own))
        moved = _with_expressions((*(own for _, own in left), *results), old, new)
        opened = tuple((symbols, own) for (symbols, _), own in zip(left, moved, strict=False))
        return replace(self, opened=opened, expressions=tuple(zip(old, new, strict=True))), moved[len(left) :]


def _with_expressions(results: tuple[Result, ...], old: Sequence[SX], new: Sequence[SX]) -> tuple[Result, ...]:
    """The results with expressions in the place of symbols; matrices that have none of these stay themselves."""
    if not old:
        return results
    plain, symbols = leaves(results), veccat(*old)
    moved = [substitute([x], old, new)[0] if depends_on(x, symbols) else x for x in plain]
    return rebuilt(results, {id(x): now for x, now in zip(plain, moved, strict=True)})


NONE = Stages()
