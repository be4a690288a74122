"""A graph as a function of CasADi's expressions again, with the operations that passes have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi
from casadi import MX, SX, Function

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


def with_jacobian(name: str, value: SparseGraph, jacobian: SparseGraph) -> Function:
    """A function that calls that of one graph, and whose Jacobian is that of the other."""
    plain = expanded(value, name)
    names = plain.name_in(), plain.name_out()
    symbols = [MX.sym(key, plain.sparsity_in(key)) for key in plain.name_in()]
    options: Any = {"custom_jacobian": expanded(jacobian, f"jac_{name}"), "jac_penalty": 0}
    return Function(name, symbols, plain.call(symbols), *names, options)


def _applied(value: Value, known: list[SX]) -> SX:
    """A value of those before it."""
    if value.op == CONST:
        return SX(value.constant)
    args = [known[arg] for arg in value.args]
    code = getattr(casadi, OPERATIONS[value.op].opcodes[0])
    return SX.unary(code, *args) if len(args) == 1 else SX.binary(code, *args)
