"""Graphs that a function calls, some of them several times: C has each once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.graph import Value
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.ir.graph import Graph, Port

    Pattern = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GraphCall:
    """ports = graph of what it takes, by names of ports: one for each of the graph's inputs."""

    graph: Graph
    takes: tuple[str, ...]
    ports: tuple[Port, ...]
    symmetric: bool = False

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.ports))} = {self.graph.name}({', '.join(self.takes)})"

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels of what `entries` appends, if the graph has any."""
        pairs = zip(self.graph.labels, self.graph.values, strict=False)
        return tuple(label for label, value in pairs if value.op != INPUT)

    def reads(self) -> Iterator[tuple[str, int]]:
        """The elements of what it takes that its values need: names of ports, and places row by row."""
        yield from ((self.takes[value.port], value.element) for value in self.graph.values if value.op == INPUT)

    def renamed(self, now: Callable[[str], str]) -> GraphCall:
        """The same with other names of ports."""
        ports = tuple(replace(port, name=now(port.name)) for port in self.ports)
        return replace(self, takes=tuple(map(now, self.takes)), ports=ports)

    def patterns(self) -> dict[str, Pattern]:
        """Where what it makes may differ from zero."""
        values, zero = self.graph.values, Value(CONST)
        pairs = zip(self.ports, self.graph.results, strict=True)
        return {port.name: np.array([values[k] != zero for k in own], bool).reshape(port.shape) for port, own in pairs}

    def entries(self, values: list[Value], known: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """The values of what it makes, by ports; they are appended to the others."""
        at: list[int] = []
        for value in self.graph.values:
            if value.op == INPUT:
                at.append(known[self.takes[value.port]][value.element])
                continue
            values.append(value._replace(args=tuple([at[arg] for arg in value.args])))
            at.append(len(values) - 1)
        results = zip(self.ports, self.graph.results, strict=True)
        return {port.name: tuple(at[index] for index in result) for port, result in results}
