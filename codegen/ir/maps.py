"""Maps: a small graph at every column, or every row, of matrices; C has them as loops.

`entries` says what that is as straight-line code: the kernel's operations, as many times as there are columns or rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.graph import Value
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.ir.graph import Graph, Port

    Pattern = NDArray[np.bool_]

EIGHT = 8
"""Columns that go at a time where registers are wide."""


@dataclass(frozen=True, slots=True)
class GraphMap:
    """ports = kernel at every one of `count` columns, or with `by_rows` rows, of what it `takes`.

    That are matrices by the names of their ports, and tables of constants row by row. Rows that it makes may be one
    below the other in a port, or end to end. Rows of what it takes, and then of what it makes, are stored in so many
    numbers (`stored`), or in as many as they have. Behind a graph with labels, its operations have this `label`.
    Rows that it makes go `onto` those of the first matrix that it takes: they share the array.
    """

    kernel: Graph
    takes: tuple[str | tuple[float, ...], ...]
    ports: tuple[Port, ...]
    count: int
    by_rows: bool = False
    label: int = 0
    stored: tuple[int, ...] = ()
    onto: bool = False

    def __str__(self) -> str:
        return f"{self.kernel.name} at {self.count} {'rows' if self.by_rows else 'columns'}"

    @property
    def names(self) -> tuple[str, ...]:
        """The matrices that it takes."""
        return tuple(x for x in self.takes if isinstance(x, str))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The elements of a column, or row, of what it takes and then makes."""
        return (*(port.size for port in self.kernel.inputs), *map(len, self.kernel.results))

    @property
    def lengths(self) -> tuple[int, ...]:
        """The numbers that rows of what it takes, and then makes, are stored in."""
        return self.stored or tuple(size if self.by_rows else self.count for size in self.sizes)

    @property
    def padded(self) -> bool:
        """Whether it takes columns, and rows are stored in a multiple of eight numbers."""
        return not self.by_rows and not any(length % EIGHT for length in self.lengths)

    def place(self, length: int, element: int, line: int) -> int:
        """Where a matrix with rows of this length has an element of a column or row (number `line`)."""
        return line * length + element if self.by_rows else element * length + line

    def renamed(self, now: Callable[[str], str]) -> GraphMap:
        """The same with other names of ports."""
        takes = tuple(now(x) if isinstance(x, str) else x for x in self.takes)
        return replace(self, takes=takes, ports=tuple(replace(port, name=now(port.name)) for port in self.ports))

    def after(self, step: Callable[[Graph], Graph]) -> GraphMap:
        """The same after a step on the kernel."""
        return replace(self, kernel=step(self.kernel))

    def laid(self, lines: Sequence[Pattern]) -> dict[str, Pattern]:
        """Patterns of what it makes, by ports, of those of a column or row of each; nothing is behind rows."""
        found: dict[str, Pattern] = {}
        for port, line, length in zip(self.ports, lines, self.lengths[len(self.takes) :], strict=True):
            rows = np.tile(line, (self.count, 1)) if self.by_rows else np.tile(line, (self.count, 1)).T
            behind = length - rows.shape[1]
            found[port.name] = np.pad(rows, ((0, 0), (0, behind))).reshape(port.shape)
        return found

    def entries(self, values: list[Value], zero: int, known: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """The values of what it makes, by ports and row by row; they are appended to the others."""
        made = {port.name: [zero] * port.size for port in self.ports}
        for line in range(self.count):
            at, lengths = self._line(line, values, known), self.lengths[len(self.takes) :]
            for port, result, length in zip(self.ports, self.kernel.results, lengths, strict=True):
                for element, index in enumerate(result):
                    made[port.name][self.place(length, element, line)] = at[index]
        return {name: tuple(found) for name, found in made.items()}

    def _line(self, line: int, values: list[Value], known: Mapping[str, Sequence[int]]) -> list[int]:
        """The kernel's values at one column or row."""
        at: list[int] = []
        for value in self.kernel.values:
            if value.op == INPUT:
                taken = self.takes[value.port]
                place = self.place(self.lengths[value.port], value.element, line)
                if isinstance(taken, str):
                    at.append(known[taken][place])
                    continue
                value = Value(CONST, constant=taken[place])
            values.append(value._replace(args=tuple([at[arg] for arg in value.args])))
            at.append(len(values) - 1)
        return at
