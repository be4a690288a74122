"""One kernel as C functions: their heads, their statements, and the variants in which they come."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from codegen.emission.emitted import Emitted
from codegen.emission.filled import elements, filled, spread
from codegen.emission.functions import Argument, Call, Function
from codegen.emission.given_memory import calling
from codegen.emission.maps import map_steps, words_of
from codegen.emission.products import (
    call_steps,
    factors_call,
    functions_once,
    in_order,
    kept,
    steps,
    unneeded,
    vectorised,
)
from codegen.emission.result_places import places, stored_apart, unread_in_lanes
from codegen.emission.spec import (
    ITERATIONS,
    LEFT,
    Header,
    JointRow,
    Kernel,
    LoopKernel,
    ProductKernel,
    Style,
    straight,
)
from codegen.emission.statements import Comments, statements
from codegen.emission.storage import storage
from codegen.emission.text import render
from codegen.emission.tiles import WAYS, reads_more_in_vectors
from codegen.emission.variants import MOST_TEXT, Alternative, Body, Variant, alternatives, length, variants
from codegen.ir.graph import STATUS, Graph
from codegen.ir.names import comment, identifier, identifiers
from codegen.ir.operations import CONST, INPUT, OPERATIONS
from codegen.ir.products import MaskedMatrixProduct
from codegen.languages.language import OPERATORS
from codegen.packing import Packed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from codegen.emission.splitting import Lengths
    from codegen.emission.tiles import Way
    from codegen.ir.graph import Port
    from codegen.ir.products import WithProducts
    from codegen.languages import Language

AnyKernel = Kernel | LoopKernel | ProductKernel

IN_JOINT_SPACE = ("v", "a", "tau", "dv", "dq", "da", "dtau", "abar", "taubar")
"""Arguments of nv numbers, of which every one belongs to a joint."""


def symbol(header: Header, kernel: AnyKernel) -> str:
    """The C name of a kernel's function."""
    return f"{header.c_prefix}_{identifier(kernel.name)}"


def arguments(graph: Graph | AnyKernel) -> tuple[Argument, ...]:
    """The pointer arguments of a function: inputs, then outputs."""
    ports = (*graph.inputs, *graph.outputs)
    # Names that the emitted code has for itself; an argument must not take one.
    taken = [
        re.sub(
            r"^(T|R|P[24]|BLOCK|ROW|PLACES|[niw]|at|count|soa|blocks?|groups|work|[tgscxyz]\d+|step_\d+|\w+_)$",
            r"\1 argument",
            port.name,
        )
        for port in ports
    ]
    names = identifiers(taken)
    written = [False] * len(graph.inputs) + [True] * len(graph.outputs)
    # The arguments of an iteration that its first stage does not take are read by the loop.
    first = graph.function if isinstance(graph, ProductKernel) else graph
    read = (first.graphs[0] if isinstance(first, Kernel | LoopKernel) else first).read()
    used = (*read, *(range(port.size) for port in ports[len(read) :]))
    return tuple(Argument(*row) for row in zip(names, ports, written, used, strict=True))


def emit_kernel(header: Header, kernel: AnyKernel, style: Style) -> Emitted:
    """The statements of a kernel, in functions of the style's lengths."""
    *_, emitted = emit_drafts(header, kernel, style)
    return emitted


def emit_drafts(header: Header, kernel: AnyKernel, style: Style) -> Iterator[Emitted]:
    """A kernel without limbs in step and, where limbs can go so, with them; the last is whole.

    Where there are small vectors, they go so at once.
    """
    name, macro, given = symbol(header, kernel), header.c_prefix.upper(), arguments(kernel)
    language = style.language(header.c_prefix)
    head = f"{macro}_{'STATUS' if kernel.can_fail else 'FUNCTION'}({name})"
    status = next((a.name for a in given if a.port == STATUS), "")
    kept = places(kernel, style.lanes)
    lengths = style.lengths.within(kernel.function.length) if isinstance(kernel, ProductKernel) else style.lengths

    def called(function: WithProducts) -> list[Body]:
        return [*_called(name, header, function, language, lengths)]

    once = called(kernel.function) if isinstance(kernel, ProductKernel) else []

    def written(own: Kernel | ProductKernel, program: Packed, ways: Sequence[Way] = WAYS) -> Body:
        kept_in = kept if own is kernel else places(own, style.lanes)
        if isinstance(own, ProductKernel):
            parts = once if own is kernel else called(own.function)
            rest = kept_in, style.lanes, parts, ways
            made = _products(header, own, program, head, given, language, lengths, *rest)
        else:
            apart = frozenset[str]() if program.packs else stored_apart(own, kept_in, given)
            what = own.sections, (), apart, preset(given, own.outputs)
            made = _functions(name, head, header, program, given, language, lengths, *what)
        return _returning(made, macro, status) if status else made

    if isinstance(kernel, LoopKernel):
        first = _loop(header, kernel, style, head, given)
        first = _returning(first, macro, status) if status else first
    elif style.small_vectors:
        plain = Alternative("PACKS", kernel, Packed(straight(kernel), ()))
        *_, last = (plain, *alternatives(kernel, style.registers or "PACKS"))
        first = written(last.kernel, last.program)
    else:
        first = written(kernel, Packed(straight(kernel), ()), ("numbers",))
    emitted = Emitted(
        symbol=name,
        algorithm=kernel.name,
        about=kernel.about,
        arguments=given,
        variants=(Variant(first.functions, first.workspace, first.memory),),
        helpers=_helpers(kernel, language),
        calls=first.calls,
        turns=style.turns,
        fit=style.fit,
        kept=kept,
        can_fail=kernel.can_fail,
        count=kernel.count,
        written=kernel.written,
        folded=kernel.folded,
        needed=isinstance(kernel, ProductKernel) and bool(kernel.function.called),
        columns=isinstance(kernel, ProductKernel) and _by_columns(kernel.function),
    )
    yield emitted
    if isinstance(kernel, LoopKernel) or style.small_vectors:
        return
    for in_step in (True, False):
        ways = alternatives(kernel, style.registers, in_step)
        others = [(own, written(own.kernel, own.program, ("vectors",))) for own in ways]
        if not others:
            if isinstance(kernel, ProductKernel) and reads_more_in_vectors(kernel.function):
                whole = written(kernel, Packed(straight(kernel), ()))
                yield replace(emitted, variants=(Variant(whole.functions, whole.workspace, whole.memory),))
            return
        shared, made = variants(kernel, first, others, macro)
        if length((shared, *made)) <= MOST_TEXT or all(own.kernel is not kernel for own, _ in others):
            break
    helpers = (*emitted.helpers, *(line for own, _ in others for line in _helpers(own.kernel, language)))
    yield replace(emitted, variants=made, shared=shared, helpers=tuple(dict.fromkeys(helpers)))


def preset(made: Sequence[Argument], results: Sequence[Port]) -> frozenset[str]:
    """The arrays that are `made` of which callers may set the zeros: those of results."""
    names = {port.name for port in results if port != STATUS}
    return frozenset(argument.name for argument in made if argument.written and argument.port.name in names)


def _by_columns(function: WithProducts) -> bool:
    """Whether loops over columns make several masked products; to write a single one, as regressors, takes longer."""
    return bool(function.maps) and sum(isinstance(own, MaskedMatrixProduct) for own in function.products) > 1


def _helpers(kernel: AnyKernel, language: Language) -> tuple[str, ...]:
    """The lines that make the functions of a kernel's operations which are no operators."""
    used = {value.op for graph in kernel.graphs for value in graph.values} - OPERATORS - {CONST, INPUT}
    used -= {"sin", "cos"} if language.own_angles else set()
    return tuple(language.helper(op) for op in OPERATIONS if op in used)


def owners(header: Header, ports: Sequence[Port]) -> dict[tuple[int, int], JointRow]:
    """The joints that elements of arguments belong to, by port and element."""
    sizes = {**dict.fromkeys(("q", "q0", "q1"), header.nq), **dict.fromkeys(IN_JOINT_SPACE, header.nv)}
    return {
        (k, element): row
        for k, port in enumerate(ports)
        if port.size == sizes.get(port.name)
        for row in header.joints
        for element in range(*(row.q if port.name.startswith("q") else row.v))
    }


def _returning(body: Body, macro: str, status: str) -> Body:
    """The functions, of which the last ends by returning its status."""
    *inner, public = body.functions
    last = replace(public, statements=(*public.statements, f"{macro}_RETURN({status})"))
    return replace(body, functions=(*inner, last))


def _loop(header: Header, kernel: LoopKernel, style: Style, head: str, given: tuple[Argument, ...]) -> Body:
    """The functions of an iteration's stages, the public one that runs them, and the reals that all keep."""
    name, macro, kept = symbol(header, kernel), header.c_prefix.upper(), 0
    functions: list[Function] = []
    for stage, graph in zip(("prepare", "step", "finish"), kernel.graphs, strict=True):
        own, own_head = f"{name}_{stage}", f"{macro}_APART void {name}_{stage}"
        made = _functions(
            own, own_head, header, Packed(graph, ()), arguments(graph), style.language(header.c_prefix), style.lengths
        )
        functions += made.functions
        kept = max(kept, made.workspace)
    work, state = (port.size for port in kernel.stages.prepare.outputs)
    inputs, names = len(kernel.inputs), [a.name for a in given]
    called = {a.port.name: a.name for a in given[inputs:]}
    text = render(
        "loop.jinja",
        **header.names,
        symbol=name,
        work=max(work, 1),
        state=max(state, 1),
        inputs=names[: inputs - 2],
        tolerance=names[inputs - 2],
        most=names[inputs - 1],
        outputs=[called[port.name] for port in kernel.stages.finish.outputs],
        iterations=called[ITERATIONS.name],
        residual=called[LEFT.name],
    )
    public = f"{head}({', '.join(a.declaration for a in given)})"
    whole = (*functions, Function(public, tuple(text.splitlines())))
    return Body(whole, (), work + 2 * state + 1 + kept)


def _products(
    header: Header,
    kernel: ProductKernel,
    program: Packed,
    head: str,
    given: tuple[Argument, ...],
    language: Language,
    lengths: Lengths,
    kept_in: Mapping[str, Sequence[int]],
    lanes: int,
    called: Sequence[Body],
    ways: Sequence[Way],
) -> Body:
    """The functions that make the factors and each product of them, and the public one that calls them.

    `called` are those that it calls besides. Of zeros there are those that products read in these `ways`.
    """
    name, macro = symbol(header, kernel), header.c_prefix.upper()
    function, own = kernel.function, arguments(kernel.function.graph)
    head_of_factors = f"{macro}_APART void {name}_factors"
    unread = unneeded(function, own, ways) | elements(spread(function, function.graph), own)
    stored = frozenset[str]() if program.packs else stored_apart(kernel, kept_in, own)
    rest = (), unread, stored, preset(own, kernel.outputs)
    made = _functions(f"{name}_factors", head_of_factors, header, program, own, language, lengths, *rest)
    body_of = partial(vectorised, header=header, apart=unread_in_lanes(kernel), lanes=lanes)
    then = in_order(
        (
            *call_steps(name, function, given),
            *map_steps(name, function, given, words_of(language)),
            *steps(name, function, given, body_of, f"{macro}_TURNED"),
        )
    )
    loops, calls = functions_once(then, lambda step: f"{macro}_APART void {step.call.name}({step.head('T')})")
    loops = tuple(replace(own, shallow=lengths.readable == 0) for own in loops)
    calls, zeros = (factors_call(name, function, given), *calls), filled(function)
    arrays = storage({array: port.size for array, port in kept(function).items()}, calls)
    lines = list[str]()
    for call in calls:
        set_first = [array for array in dict.fromkeys(call.arguments) if array in zeros]
        lines += [line for array in set_first for line in zeros.pop(array).statements("ALL(0.0)")]
        lines.append(str(call))
    apart = tuple(own for body in called for own in body.functions)
    heads, declared = (f"{macro}_INLINE void", head), {a.name: a.declaration for a in given}
    words = "T", f" {macro}_ALIGNED"
    last = calling(name, heads, declared, arrays, lines, words, short=lengths.readable == 0)
    whole = (*made.functions, *apart, *loops, *last)
    deepest = max(body.workspace for body in (made, *called))
    return Body(whole, (), deepest + arrays.size, arrays.size * (len(last) > 1))


def _called(name: str, header: Header, function: WithProducts, language: Language, lengths: Lengths) -> Iterator[Body]:
    """The functions of every graph that is called."""
    for graph in function.called:
        own, given = f"{name}_{graph.name}", arguments(graph)
        head, zeros = f"{header.c_prefix.upper()}_APART void {own}", elements(spread(function, graph), given)
        yield _functions(own, head, header, Packed(graph, ()), given, language, lengths, (), zeros)


def _functions(
    name: str,
    head: str,
    header: Header,
    program: Packed,
    given: tuple[Argument, ...],
    language: Language,
    lengths: Lengths,
    sections: Sequence[str] = (),
    unread: Collection[str] = (),
    apart: Collection[str] = (),
    zeros: Collection[str] = (),
) -> Body:
    """One function, or one per part and one under `head` that calls them in order."""
    macro = header.c_prefix.upper()
    named = {place: comment(row.name) for place, row in owners(header, program.graph.inputs).items()}
    comments = Comments(named, [comment(section) for section in sections])
    names = [a.name for a in given]
    rest = program.packs, comments, unread, apart, zeros
    parts, workspace = statements(program.graph, names, language, lengths, *rest)
    declared = {a.name: a.declaration for a in given} | {"w": "T *w"}
    public = f"{head}({', '.join(a.declaration for a in given)})"
    bodies = [tuple(f"(void){unused};" for unused in part.unused) + part.lines for part in parts]
    short = len(program.graph.values) > lengths.readable
    if len(parts) == 1:
        return Body((Function(public, bodies[0], many=short, very_many=short),), (), workspace)
    heads = [
        f"{macro}_PART void {name}_part_{k}({', '.join(declared[argument] for argument in part.names)})"
        for k, part in enumerate(parts)
    ]
    calls = tuple(Call(f"{name}_part_{k}", part.names) for k, part in enumerate(parts))
    inner = [Function(*pair, many=True, very_many=short) for pair in zip(heads, bodies, strict=True)]
    taken = {name for part in parts for name in part.names}
    unused = [f"(void){name};" for name in names if name not in taken]
    outer = Function(public, (*unused, f"T w[{workspace}] {macro}_ALIGNED;", *map(str, calls)))
    return Body((*inner, outer), calls, workspace)
