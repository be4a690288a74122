"""Graphs whose results are sparse matrices: their nonzeros, column by column, and where these are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from casadi import SX, Function, Sparsity, project, vec

from codegen.ir.counting import Count, count
from codegen.ir.graph import STATUS, Graph, Port, Value, from_casadi, verify
from codegen.ir.operations import CONST
from codegen.ir.pattern import Pattern
from codegen.tracing.status import with_status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


def pattern_of(matrix: SX) -> Pattern:
    """Where an expression has nonzeros."""
    return Pattern.of(matrix.shape, zip(*matrix.sparsity().get_triplet(), strict=True))


def sparsity_of(pattern: Pattern) -> Sparsity:
    """CasADi's."""
    return Sparsity(*pattern.shape, pattern.indptr, pattern.indices)


def compressed(pattern: Pattern) -> tuple[int, ...]:
    """A pattern as CasADi writes it: rows, columns, where columns begin among the nonzeros, the row of each."""
    return *pattern.shape, *pattern.indptr, *pattern.indices


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
    outputs = {key: project(y, sparsity_of(fixed[key])) if key in fixed else y for key, y in outputs.items()}
    given = {key: pattern_of(x) for key, x in inputs.items()}
    found = {key: pattern_of(y) for key, y in outputs.items()}
    args = [vec(inputs[key]) for key, pattern in given.items() if pattern.nnz]
    results = [vec(y.nz[:]) for y in (outputs[key] for key, pattern in found.items() if pattern.nnz)]
    ports = [
        tuple(
            Port(key, (pattern.nnz,), f"{key}, its nonzeros column by column")
            for key, pattern in patterns.items()
            if pattern.nnz
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
            own = patterns[port.name]
            patterns[port.name] = Pattern.of(own.shape, [(own.indices[k], own.columns[k]) for k in kept])
        if kept:
            outputs.append(port if port.name in whole else replace(port, shape=(len(kept),)))
            results.append(tuple(result[k] for k in kept))
    graph = replace(graph, outputs=tuple(outputs), results=tuple(results))
    return replace(sparse, graph=verify(graph), outputs=patterns)
