"""A function and products of its derivatives as kernels in a library, by raw numbers of q: what AD of others calls."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from casadi import SX, reshape

from codegen import pipeline
from codegen.backends import BACKENDS
from codegen.compilation.cache import Build, kept
from codegen.compilation.identity import checked
from codegen.compilation.shared_library import compile_library
from codegen.emission.spec import Kernel
from codegen.emission.text import render
from codegen.ir.graph import STATUS
from codegen.ir.names import comment, identifier
from codegen.progress import doing
from codegen.task.auto_select import resolved
from codegen.task.header_notes import folded
from codegen.tracing.differentiated import differentiated
from codegen.tracing.expressed import column
from codegen.tracing.sparse_graph import pattern_of, sparse_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from codegen.compilation.compiler import Toolchain
    from codegen.emission.spec import Header, Style
    from codegen.ir.graph import Port
    from codegen.pipeline import Wrapped
    from codegen.tracing.task import Task

VALUE, ADJOINT, FORWARD = "value", "adjoint", "forward"


def library_of(
    task: Task, peer: str, interface: Callable[..., Wrapped], style: Style, tools: Toolchain, *flags: str
) -> tuple[str, dict[str, Any]]:
    """The path of a task's library for a peer, compiled with these flags besides, or from the cache; and its facts."""
    robot = task.model

    def build(work: Path) -> Build:
        chosen, facts = resolved(task), dict[str, Any]()
        write = partial(interface, facts=facts)
        files = pipeline.files_of(robot, (chosen,), robot.name, style, BACKENDS["c"], [write], plain=False)
        sources = {path: text for path, text in files.items() if path.startswith(identifier(robot.name))}
        return Build(compile_library(facts["symbol"], sources, work, tools, c=flags), tuple(sources), facts)

    with doing(f"{task.algorithm} of {robot.name} for {peer}"):
        place, made, _ = kept(f"{peer} {task.request} {style}", build, tools)
    checked(place / made.binary, identifier(robot.name), robot.digest)
    return str(place / made.binary), made.facts


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


def forward(task: Task, peer: str) -> Kernel:
    """A kernel of the directional product (of inputs and their changes); matrices as in `value_and_adjoint`."""
    own, derivatives = differentiated(task)
    changes = {f"fwd_{name}": SX.sym(f"fwd_{name}", *x.shape) for name, x in own.inputs.items()}
    product, products, at = derivatives.forward(column(changes.values())), dict[str, SX](), 0
    for name, y in own.outputs.items():
        products[f"fwd_{name}"] = reshape(product[at : at + y.numel()], *y.shape)
        at += y.numel()
    return _kernel(task, FORWARD, {**own.inputs, **changes}, products, peer)


def written(
    peer: str,
    top: Header,
    task: Task,
    kernels: tuple[Kernel, ...],
    slots: Callable[[Sequence[Port], Sequence[Port]], dict[str, Any]],
    facts: dict[str, Any],
) -> Wrapped:
    """Kernels, and the C by which a peer calls them: its template, of whose functions `slots` say what is its own.

    `facts` learn what Python has to know.
    """
    name = f"{top.c_prefix}_{identifier(task.algorithm)}_{peer}"
    facts |= _facts_of(task, name)

    def function(kernel: Kernel) -> dict[str, Any]:
        symbol = f"{top.c_prefix}_{identifier(kernel.name)}"
        own = slots(kernel.inputs, [port for port in kernel.outputs if port != STATUS])
        return {
            **own,
            "name": f"{name}_{kernel.name.rpartition('_')[2]}",
            "about": comment(kernel.about),
            "kernel": symbol,
            "passed": [*own["passed"], *[f"work + {symbol.upper()}_WORK, 1"] * kernel.can_fail],
        }

    texts = {"algorithm": identifier(task.algorithm), "about": comment(task.entry.title)}
    text = render(f"{peer}.c.jinja", **top.names, **texts, functions=[function(kernel) for kernel in kernels])
    return kernels, {f"{name}.c": text}


def _facts_of(task: Task, symbol: str) -> dict[str, Any]:
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
