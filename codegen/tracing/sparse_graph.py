"""Graphs whose results are sparse matrices: their nonzeros, column by column, and where these are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from casadi import SX, Function, Sparsity, project, vec

from codegen.ir.counting import Count, count
from codegen.ir.graph import STATUS, Graph, Port, Value, from_casadi, verify
from codegen.ir.operations import CONST
from codegen.tracing.status import with_status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


@dataclass(frozen=True, slots=True)
class Pattern:
    """Where the nonzeros of a matrix are, column by column (CSC)."""

    rows: int
    columns: int
    at: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        return f"{self.rows} x {self.columns}, {len(self.at)} nonzeros"

    @property
    def compressed(self) -> tuple[int, ...]:
        """The number of rows and columns, where columns begin among the nonzeros, and the row of each."""
        sizes = [0] * self.columns
        for _, column in self.at:
            sizes[column] += 1
        return self.rows, self.columns, 0, *accumulate(sizes), *(row for row, _ in self.at)

    @property
    def sparsity(self) -> Sparsity:
        """CasADi's."""
        return Sparsity.triplet(self.rows, self.columns, *([place[axis] for place in self.at] for axis in (0, 1)))

    @classmethod
    def of(cls, matrix: SX) -> Pattern:
        """That of an expression."""
        rows, columns = matrix.sparsity().get_triplet()
        return cls(matrix.size1(), matrix.size2(), tuple(zip(rows, columns, strict=True)))


@dataclass(frozen=True, slots=True)
class SparseGraph:
    """A graph of nonzeros, and the patterns of all arguments and results by name.

    The graph has those that have nonzeros, in this order, and the status if it can fail. `written` is its count before
    the passes.
    """

    graph: Graph
    inputs: dict[str, Pattern]
    outputs: dict[str, Pattern]
    written: Count

    def __str__(self) -> str:
        return f"{self.graph}: {', '.join(f'{name} {pattern}' for name, pattern in self.outputs.items())}"


def sparse_graph(
    name: str,
    inputs: Mapping[str, SX],
    outputs: Mapping[str, SX],
    passes: Callable[[Graph], Graph],
    fixed: Mapping[str, Pattern],
) -> SparseGraph:
    """The graph of expressions of dense symbols (or of none), after passes; what these find to be zero is left out.

    Results that are `fixed` have these patterns. RobotError if there is an operation or number that C has not.
    """
    outputs = {key: project(y, fixed[key].sparsity) if key in fixed else y for key, y in outputs.items()}
    given = {key: Pattern.of(x) for key, x in inputs.items()}
    found = {key: Pattern.of(y) for key, y in outputs.items()}
    args = [vec(inputs[key]) for key, pattern in given.items() if pattern.at]
    results = [vec(y.nz[:]) for y in (outputs[key] for key, pattern in found.items() if pattern.at)]
    ports = [
        tuple(
            Port(key, (len(pattern.at),), f"{key}, its nonzeros column by column")
            for key, pattern in patterns.items()
            if pattern.at
        )
        for patterns in (given, found)
    ]
    function = Function("f", args, results, {"live_variables": False})
    written = with_status(from_casadi(function, ports[0], ports[1], name))
    return _trimmed(SparseGraph(passes(written), given, found, count(written)), {*fixed, STATUS.name})


def _trimmed(sparse: SparseGraph, whole: Collection[str]) -> SparseGraph:
    """The same without results that are zero, but in those that stay whole."""
    graph, patterns = sparse.graph, dict(sparse.outputs)
    outputs, results = list[Port](), list[tuple[int, ...]]()
    for port, result in zip(graph.outputs, graph.results, strict=True):
        kept = [k for k, index in enumerate(result) if port.name in whole or graph.values[index] != Value(CONST)]
        if port.name not in whole:
            patterns[port.name] = replace(patterns[port.name], at=tuple(patterns[port.name].at[k] for k in kept))
        if kept:
            outputs.append(port if port.name in whole else replace(port, shape=(len(kept),)))
            results.append(tuple(result[k] for k in kept))
    graph = replace(graph, outputs=tuple(outputs), results=tuple(results))
    return replace(sparse, graph=verify(graph), outputs=patterns)
