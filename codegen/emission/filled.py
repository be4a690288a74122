"""Zeros of matrices that are set before, all at once, where functions are called: those that anything reads.

Factors of a tree have few numbers among many zeros, of which loops read those near numbers: of a matrix with many that
nothing reads, lines of memory are set by a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.emission.tiles import zeros_unread
from codegen.ir.calls import GraphCall
from codegen.ir.graph import Value
from codegen.ir.operations import CONST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.emission.functions import Argument
    from codegen.ir.graph import Graph, Port
    from codegen.ir.products import WithProducts

    Pattern = NDArray[np.bool_]

LINE = 8
"""Reals that are set at a time, those of a line of memory."""


@dataclass(frozen=True, slots=True)
class Filled:
    """An array of so many reals, in which zeros are set: from these places on, a `LINE` each, or all."""

    array: str
    size: int
    lines: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.array}: {len(self.lines)} lines" if self.lines else f"all of {self.array}"

    def statements(self, zero: str) -> Iterator[str]:
        """The C that sets them."""
        if not self.lines:
            yield f"for (int k = 0; k < {self.size}; ++k) {self.array}[k] = {zero};"
            return
        yield f"static const int {self.array}zeros[] = {{ {', '.join(map(str, self.lines))} }};"
        to = f"{self.array}[{self.array}zeros[k] + j] = {zero};"
        yield f"for (int k = 0; k < {len(self.lines)}; ++k) for (int j = 0; j < {LINE}; ++j) {to}"


def spread(function: WithProducts, graph: Graph) -> dict[str, tuple[int, ...]]:
    """Zeros among what a graph makes, by its outputs, that nothing but loops and calls reads wherever it is called.

    They are set before; other zeros of results are statements.
    """
    if not function.called:
        return {}
    calls = [own.ports for own in function.products if isinstance(own, GraphCall) and own.graph is graph]
    inner, zero = {port.name for port in function.kept}, Value(CONST)
    found = dict[str, tuple[int, ...]]()
    for port, result, *places in zip(graph.outputs, graph.results, *(calls or [graph.outputs]), strict=True):
        if all(place.name in inner for place in places):
            found[port.name] = tuple(k for k, index in enumerate(result) if graph.values[index] == zero)
    return {name: places for name, places in found.items() if places}


def filled(function: WithProducts) -> dict[str, Filled]:
    """The arrays that such zeros are in, by their names in C."""
    zeros = {*spread(function, function.graph)}
    for call in function.products:
        if isinstance(call, GraphCall):
            pairs, own = zip(call.graph.outputs, call.ports, strict=True), spread(function, call.graph)
            zeros |= {port.name for made, port in pairs if made.name in own}
    ports = [port for port in function.kept if port.name in zeros]
    known, unread = function.patterns(), zeros_unread(function, ports) if ports else {}
    read = {name: ~where & ~unread[name] if name in unread else ~where for name, where in known.items()}
    wholes = {port.name: np.ones(port.shape, bool) for port in ports if port.name not in read}  # that calls hand on
    return {f"{port.name}_": _of(port, (read | wholes)[port.name]) for port in ports}


def _of(port: Port, read: Pattern) -> Filled:
    """The zeros of a matrix that are `read`, in lines if these are less than half of it."""
    lines = sorted({min(int(k) // LINE * LINE, port.size - LINE) for k in np.flatnonzero(read)})
    few = port.size >= LINE and 2 * LINE * len(lines) < port.size
    return Filled(f"{port.name}_", port.size, tuple(lines) if few else ())


def elements(zeros: Mapping[str, Sequence[int]], made: Sequence[Argument]) -> frozenset[str]:
    """Elements of arguments by ports, as C writes them."""
    names = {argument.port.name: argument.name for argument in made if argument.written}
    return frozenset(f"{names[port]}[{k}]" for port, places in zeros.items() for k in places)
