"""Maps: a small graph at every column, or every row, of matrices; C has them as loops.

`entries` says what that is as straight-line code: the kernel's operations, as many times as there are columns or rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codegen.ir.graph import Value
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from codegen.ir.graph import Graph, Port


@dataclass(frozen=True, slots=True)
class GraphMap:
    """ports = kernel at every column, or with `by_rows` every row, of what it `takes`.

    That are matrices by the names of their ports, and tables of constants row by row. Rows that it makes may be one
    below the other in a port, or end to end. Behind a graph with labels, its operations have this `label`.
    """

    kernel: Graph
    takes: tuple[str | tuple[float, ...], ...]
    ports: tuple[Port, ...]
    by_rows: bool = False
    label: int = 0

    def __str__(self) -> str:
        return f"{self.kernel.name} at {self.count} {'rows' if self.by_rows else 'columns'}"

    @property
    def count(self) -> int:
        """How many columns or rows there are."""
        return self.ports[0].size // len(self.kernel.results[0])

    @property
    def names(self) -> tuple[str, ...]:
        """The matrices that it takes."""
        return tuple(x for x in self.takes if isinstance(x, str))

    def place(self, size: int, element: int, line: int) -> int:
        """Where, row by row, a column or row (number `line`) of so many elements has this one."""
        return line * size + element if self.by_rows else element * self.count + line

    def renamed(self, now: Callable[[str], str]) -> GraphMap:
        """The same with other names of ports."""
        takes = tuple(now(x) if isinstance(x, str) else x for x in self.takes)
        return replace(self, takes=takes, ports=tuple(replace(port, name=now(port.name)) for port in self.ports))

    def after(self, step: Callable[[Graph], Graph]) -> GraphMap:
        """The same after a step on the kernel."""
        return replace(self, kernel=step(self.kernel))

    def entries(self, values: list[Value], known: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """The values of what it makes, by ports and row by row; they are appended to the others."""
        made = {port.name: [0] * port.size for port in self.ports}
        for line in range(self.count):
            at = self._line(line, values, known)
            for port, result in zip(self.ports, self.kernel.results, strict=True):
                for element, index in enumerate(result):
                    made[port.name][self.place(len(result), element, line)] = at[index]
        return {name: tuple(found) for name, found in made.items()}

    def _line(self, line: int, values: list[Value], known: Mapping[str, Sequence[int]]) -> list[int]:
        """The kernel's values at one column or row."""
        at: list[int] = []
        for value in self.kernel.values:
            if value.op == INPUT:
                taken = self.takes[value.port]
                place = self.place(self.kernel.inputs[value.port].size, value.element, line)
                if isinstance(taken, str):
                    at.append(known[taken][place])
                    continue
                value = Value(CONST, constant=taken[place])
            values.append(value._replace(args=tuple([at[arg] for arg in value.args])))
            at.append(len(values) - 1)
        return at
