"""Nonzeros of a matrix, column by column, as loops: rectangles are turned, runs copied, others found by a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SQUARE = 4
"""Rows and columns from which a rectangle is turned, by squares of so many where there are small vectors."""

RUN = 3
"""Neighbours in a row from which they are copied together."""


class Rectangle(NamedTuple):
    """So many rows and columns of a matrix, from an element of it on, and where their columns begin in the result."""

    first: int
    to: int
    rows: int
    columns: int


class Run(NamedTuple):
    """So many neighbours in the matrix, from an element of it on, and where they begin in the result."""

    first: int
    to: int
    length: int


@dataclass(frozen=True, slots=True)
class Gathered:
    """Rectangles, runs, and of others the places in the result and in the matrix, whose rows have `step` numbers."""

    step: int
    rectangles: tuple[Rectangle, ...]
    runs: tuple[Run, ...]
    others: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        return f"{len(self.rectangles)} rectangles, {len(self.runs)} runs and {len(self.others)} elements"

    def lines(self, turn: str = "") -> tuple[str, ...]:
        """The lines of their C function; one of this name turns rectangles, if there is any."""
        found = list[str]()
        if self.rectangles:
            parts = ", ".join(f"{{{first}, {to}, {rows}, {columns}}}" for first, to, rows, columns in self.rectangles)
            found += [
                f"static const int parts[][4] = {{ {parts} }};",
                f"for (int k = 0; k < {len(self.rectangles)}; ++k) {{",
                "    const int *const own = parts[k];",
            ]
            if turn:
                found.append(f"    {turn}(from + own[0], {self.step}, to + own[1], own[2], own[3]);")
            else:
                element = f"to[own[1] + j*own[2] + i] = from[own[0] + i*{self.step} + j]"
                found += [
                    "    for (int j = 0; j < own[3]; ++j)",
                    f"        for (int i = 0; i < own[2]; ++i) {element};",
                ]
            found.append("}")
        if self.runs:
            runs = ", ".join(f"{{{first}, {to}, {length}}}" for first, to, length in self.runs)
            found += [
                f"static const int runs[][3] = {{ {runs} }};",
                f"for (int k = 0; k < {len(self.runs)}; ++k) {{",
                "    const int *const own = runs[k];",
                "    for (int i = 0; i < own[2]; ++i) to[own[1] + i] = from[own[0] + i];",
                "}",
            ]
        if self.others:
            places = ", ".join(f"{{{to}, {at}}}" for to, at in self.others)
            found += [
                f"static const int places[][2] = {{ {places} }};",
                f"for (int k = 0; k < {len(self.others)}; ++k) to[places[k][0]] = from[places[k][1]];",
            ]
        return tuple(found)


def gathered(places: Sequence[int], step: int) -> Gathered:
    """The elements at these places of a matrix with rows of so many numbers, in this order."""
    rectangles, runs, others, at = list[Rectangle](), list[Run](), list[tuple[int, int]](), 0
    while at < len(places):
        rows, columns, length = _apart(places, at, step), 1, _apart(places, at, 1)
        column = [*range(places[at], places[at] + rows * step, step)]
        while [*places[at + columns * rows : at + (columns + 1) * rows]] == [place + columns for place in column]:
            columns += 1
        if min(rows, columns) >= SQUARE:
            rectangles.append(Rectangle(places[at], at, rows, columns))
            at += rows * columns
        elif length >= RUN:
            runs.append(Run(places[at], at, length))
            at += length
        else:
            others += [(at + k, place) for k, place in enumerate(column)]
            at += rows
    return Gathered(step, tuple(rectangles), tuple(runs), tuple(others))


def _apart(places: Sequence[int], at: int, step: int) -> int:
    """How many places from one on are so far apart."""
    count = 1
    while at + count < len(places) and places[at + count] == places[at] + count * step:
        count += 1
    return count
