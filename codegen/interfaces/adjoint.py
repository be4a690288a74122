"""A function and its adjoint as two kernels, by raw numbers of q: what reverse-mode differentiation of others calls."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from casadi import SX, reshape

from codegen import pipeline
from codegen.emission.spec import Kernel
from codegen.task.header_notes import folded
from codegen.tracing.differentiated import column, differentiated
from codegen.tracing.sparse_graph import pattern_of, sparse_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.tracing.task import Task

VALUE, ADJOINT = "value", "adjoint"


def value_and_adjoint(task: Task, peer: str) -> tuple[Kernel, Kernel]:
    """Kernels of the value (of inputs) and of the adjoint product (of inputs and weights of outputs).

    Matrices are dense, column by column.
    """
    own, derivatives = differentiated(task)
    seeds = {f"adj_{name}": SX.sym(f"adj_{name}", *y.shape) for name, y in own.outputs.items()}
    adjoint, adjoints, at = derivatives.adjoint(column(seeds.values())), dict[str, SX](), 0
    for name, x in own.inputs.items():
        adjoints[f"adj_{name}"] = reshape(adjoint[at : at + x.numel()], *x.shape)
        at += x.numel()
    return (
        _kernel(task, VALUE, own.inputs, own.outputs, peer),
        _kernel(task, ADJOINT, {**own.inputs, **seeds}, adjoints, peer),
    )


def facts_of(task: Task, symbol: str) -> dict[str, Any]:
    """What Python has to know of a library with such functions, for JSON: names and shapes."""
    inputs, outputs = task.signature
    return {
        "symbol": symbol,
        "inputs": [[port.name, list(port.shape)] for port in inputs],
        "outputs": [[port.name, list(port.shape)] for port in outputs],
    }


def _kernel(task: Task, what: str, inputs: Mapping[str, SX], outputs: Mapping[str, SX], peer: str) -> Kernel:
    whole = {name: pattern_of(SX.ones(*y.shape)) for name, y in outputs.items()}
    named = {f"out_{name}": y for name, y in outputs.items()}  # an adjoint is called as its seed is, otherwise
    fixed = {f"out_{name}": pattern for name, pattern in whole.items()}
    made = sparse_graph(f"{task.algorithm}_{what}", inputs, named, partial(pipeline.passed, task), fixed)
    return Kernel(made.graph, f"{task.entry.title}: {what} for {peer}", made.written, (), folded(task))
