"""The functions of a kernel: one, or one for each part and one that calls them, or those of an iteration."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from codegen.backends.c_portable.statements import statements
from codegen.emission.emitted import Emitted
from codegen.emission.functions import Call, Function
from codegen.emission.given_memory import calling, within
from codegen.emission.kernels import arguments, symbol
from codegen.emission.maps import MapWords, map_steps
from codegen.emission.products import call_steps, factors_call, functions_once, in_order, kept, scalar, steps
from codegen.emission.spec import ITERATIONS, LEFT, LoopKernel, ProductKernel
from codegen.emission.storage import storage
from codegen.emission.text import render
from codegen.emission.variants import Variant
from codegen.ir.graph import STATUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.backends.c_portable.spelling import Words
    from codegen.emission.functions import Argument
    from codegen.emission.kernels import AnyKernel
    from codegen.emission.spec import Header
    from codegen.emission.splitting import Lengths
    from codegen.ir.graph import Graph


def emitted(header: Header, kernel: AnyKernel, words: Words, lengths: Lengths) -> Emitted:
    """The C text of a kernel."""
    name, given = symbol(header, kernel), arguments(kernel)
    result, memory = "int" if kernel.can_fail else "void", 0
    head = f"{result} {name}"
    if isinstance(kernel, LoopKernel):
        functions, workspace = _loop(header, kernel, name, head, words, lengths)
    elif isinstance(kernel, ProductKernel):
        functions, workspace, memory = _products(header, kernel, name, head, words, lengths)
    else:
        functions, workspace = _functions(header, kernel.graph, name, head, words, lengths)
    *inner, public = functions
    status = [f"return (int){a.name}[0];" for a in given if a.port == STATUS]
    whole = [*inner, Function(public.head, (*public.statements, *status))]
    if memory:
        declared = {a.name: _declared(a, words) for a in given}
        whole.append(within(name, f"{result} {name}_in", declared, words.real, "work", status))
    return Emitted(
        symbol=name,
        algorithm=kernel.name,
        about=kernel.about,
        arguments=given,
        variants=(Variant(tuple(whole), workspace, memory),),
        helpers=(),
        calls=(),
        turns=1,
        fit=0,
        kept={},
        can_fail=kernel.can_fail,
        count=kernel.count,
        written=kernel.written,
        folded=kernel.folded,
    )


def _declared(argument: Argument, words: Words) -> str:
    return argument.declaration.replace("T *", f"{words.real} *")


def _functions(
    header: Header, graph: Graph, name: str, head: str, words: Words, lengths: Lengths
) -> tuple[list[Function], int]:
    """One function under `head`, or one for each part and then the one that calls them in order; their workspace."""
    given = arguments(graph)
    parts, workspace = statements(graph, header, given, words, lengths)
    declared = {a.name: _declared(a, words) for a in given} | {"w": f"{words.real} *w"}
    public = f"{head}({', '.join(declared[a.name] for a in given)})"
    unused = [f"(void){a.name};" for a in given if all(a.name in part.unused for part in parts)]
    if len(parts) == 1:
        return [Function(public, (*unused, *parts[0].lines))], workspace
    called = [(f"{name}_part_{k + 1}", part) for k, part in enumerate(parts)]
    inner = [
        Function(f"static void {own}({', '.join(declared[a] for a in part.names)})", part.lines) for own, part in called
    ]
    calls = [str(Call(own, part.names)) for own, part in called]
    return [*inner, Function(public, (f"{words.real} w[{workspace}];", *unused, *calls))], workspace


def _products(
    header: Header, kernel: ProductKernel, name: str, head: str, words: Words, lengths: Lengths
) -> tuple[list[Function], int, int]:
    """The functions that make factors and their products, and the one under `head` that calls them.

    Besides, the reals kept, and how many of them may be the caller's.
    """
    function, given = kernel.function, arguments(kernel)
    own, workspace = _functions(
        header, function.graph, f"{name}_factors", f"static void {name}_factors", words, lengths
    )
    spelled = _map_words(words)
    then = in_order(
        (
            *call_steps(name, function, given),
            *map_steps(name, function, given, lambda _: spelled),
            *steps(name, function, given, partial(scalar, real=words.real)),
        )
    )
    loops, calls = functions_once(then, lambda step: f"static void {step.call.name}({step.head(words.real)})")
    called = [
        _functions(header, graph, f"{name}_{graph.name}", f"static void {name}_{graph.name}", words, lengths)
        for graph in function.called
    ]
    calls = (factors_call(name, function, given), *calls)
    arrays = storage({array: port.size for array, port in kept(function).items()}, calls)
    declared = {a.name: _declared(a, words) for a in given}
    last = calling(name, ("static void", head), declared, arrays, list(map(str, calls)), (words.real, ""))
    apart = [made for functions, _ in called for made in functions]
    deepest = max((workspace, *(needed for _, needed in called)))
    return [*own, *apart, *loops, *last], deepest + arrays.size, arrays.size * (len(last) > 1)


def _map_words(words: Words) -> MapWords:
    """How numbers of maps are spelled: one column or row at a time."""

    def spell(op: str, operands: Sequence[str], literals: Sequence[bool]) -> str:
        return words.expression(op, operands, [False] * len(literals))

    return MapWords(words.real, words.real, "1", "{}", "{}", "{}", "{}", "", "", words.literal, spell)


def _loop(
    header: Header, kernel: LoopKernel, name: str, head: str, words: Words, lengths: Lengths
) -> tuple[list[Function], int]:
    """The functions of an iteration's stages, the one under `head` that runs them, and the reals that all keep."""
    functions: list[Function] = []
    kept = 0
    for stage, graph in zip(("prepare", "step", "finish"), kernel.graphs, strict=True):
        own, workspace = _functions(header, graph, f"{name}_{stage}", f"static void {name}_{stage}", words, lengths)
        functions += own
        kept = max(kept, workspace)
    given = arguments(kernel)
    work, state = (port.size for port in kernel.stages.prepare.outputs)
    inputs = [a.name for a in given[: len(kernel.inputs)]]
    called = {a.port.name: a.name for a in given[len(kernel.inputs) :]}
    text = render(
        "portable_loop.jinja",
        symbol=name,
        real=words.real,
        work=max(work, 1),
        state=max(state, 1),
        inputs=inputs[:-2],
        tolerance=inputs[-2],
        most=inputs[-1],
        outputs=[called[port.name] for port in kernel.stages.finish.outputs],
        iterations=called[ITERATIONS.name],
        residual=called[LEFT.name],
    )
    public = f"{head}({', '.join(_declared(a, words) for a in given)})"
    return [*functions, Function(public, tuple(text.splitlines()))], work + 2 * state + 1 + kept
