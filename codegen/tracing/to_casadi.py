"""A graph as a function of CasADi's SX expressions again, with the operations that passes have left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi
from casadi import SX, Function

from codegen.ir.graph import STATUS
from codegen.ir.operations import CONST, INPUT, OPERATIONS
from codegen.tracing.sparse_graph import sparsity_of

if TYPE_CHECKING:
    from codegen.ir.graph import Value
    from codegen.tracing.sparse_graph import SparseGraph


def expanded(sparse: SparseGraph, name: str) -> Function:
    """The SX function of a graph of nonzeros, without its status."""
    graph = sparse.graph
    symbols = {key: SX.sym(key, *pattern.shape) for key, pattern in sparse.inputs.items()}
    columns = [casadi.vec(symbols[port.name]) for port in graph.inputs]
    known: list[SX] = []
    for value in graph.values:
        known.append(columns[value.port][value.element] if value.op == INPUT else _applied(value, known))
    nonzeros = {port.name: result for port, result in zip(graph.outputs, graph.results, strict=True) if port != STATUS}
    results = []
    for key, pattern in sparse.outputs.items():
        entries = casadi.vertcat(*[known[index] for index in nonzeros.get(key, ())])
        results.append(SX(sparsity_of(pattern), entries))
    return Function(name, list(symbols.values()), results, list(symbols), list(sparse.outputs))


def _applied(value: Value, known: list[SX]) -> SX:
    """A value of those before it."""
    if value.op == CONST:
        return SX(value.constant)
    args = [known[arg] for arg in value.args]
    code = getattr(casadi, OPERATIONS[value.op].opcodes[0])
    return SX.unary(code, *args) if len(args) == 1 else SX.binary(code, *args)
