"""One kernel as C functions: their heads, their statements, and the variants in which they come."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from codegen.emission.filled import elements, filled, spread
from codegen.emission.functions import Argument, Call, Function
from codegen.emission.given_memory import ALIGNED, calling, within
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
    KEPT,
    LEFT,
    LINE,
    Header,
    JointRow,
    Kernel,
    LoopKernel,
    ProductKernel,
    Style,
    straight,
)
from codegen.emission.stack import stack
from codegen.emission.statements import Comments, statements
from codegen.emission.storage import storage
from codegen.emission.text import render
from codegen.emission.tiles import WAYS, reads_more_in_vectors
from codegen.emission.variants import MOST_TEXT, Alternative, Body, Variant, alternatives, length, variants
from codegen.ir.counting import Count
from codegen.ir.graph import STATUS, Graph
from codegen.ir.names import comment, identifier, identifiers, wrapped
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


@dataclass(frozen=True, slots=True)
class Emitted:
    """The C text of one kernel, before the header exists, in variants of which one is compiled; lanes take the first.

    Functions that several of them have are `shared`. `helpers` are the lines that make the functions of operations
    which are no operators, `calls` the parts of the function that lanes run, none if it is whole, `turns` how many
    states may take turns in them, `fit` how many reals of states in lanes a cache holds, `kept` where lanes keep
    elements of results. Inputs are `needed` where functions are called with them after others; `columns` are loops over
    these, of which masks choose entries.
    """

    symbol: str
    algorithm: str
    about: str
    arguments: tuple[Argument, ...]
    variants: tuple[Variant, ...]
    helpers: tuple[str, ...]
    calls: tuple[Call, ...]
    turns: int
    fit: int
    kept: Mapping[str, tuple[int, ...]]
    can_fail: bool
    count: Count
    written: Count
    folded: str = ""
    shared: Variant = field(default_factory=Variant)
    needed: bool = False
    columns: bool = False

    @property
    def workspace(self) -> int:
        """Reals that the function keeps between its parts."""
        return max(variant.workspace for variant in self.variants)

    @property
    def memory(self) -> int:
        """Reals that it takes in place of the stack's, if the caller has them; none if it has no such function."""
        own = [variant.memory for variant in self.variants]
        return max(own) + ALIGNED if all(own) else 0

    @property
    def result(self) -> str:
        """What the C function returns: its status, if it has one."""
        return "int" if self.can_fail else "void"

    @property
    def presets(self) -> bool:
        """Whether callers may set zeros of results themselves."""
        bodies = (body for variant in (self.shared, *self.variants) for body in variant.statements)
        return any("ZEROS(" in line for body in bodies for line in body)

    @property
    def summary(self) -> str:
        return comment(self.about)

    @property
    def remarks(self) -> list[str]:
        """Lines on what is no argument."""
        return wrapped(self.folded)

    @property
    def macro(self) -> str:
        return self.symbol.upper()

    def places(self) -> Iterator[tuple[Argument, int]]:
        """Where arguments lie in what a call on many states keeps: outputs, which come last, in place of inputs.

        They lie behind them if inputs are `needed` to the end.
        """
        inputs = sum(argument.port.size for argument in self.arguments if not argument.written)
        place = {False: 0, True: inputs if self.needed else 0}
        for argument in self.arguments:
            yield argument, place[argument.written]
            place[argument.written] += argument.port.size

    @property
    def span(self) -> int:
        """Reals of all arguments where they lie so."""
        return max(place + argument.port.size for argument, place in self.places())

    def groups(self, lanes: int) -> tuple[int, int]:
        """What a call on many states keeps: how many groups of so many lanes, and how many reals of every state.

        Those are the arguments and, where groups take turns in the parts of the function, the workspace.
        """
        own = self.span
        size = own + self.variants[0].workspace
        groups = min(self.turns // lanes, KEPT // (size * lanes)) if self.calls and lanes > 1 else 1
        return (groups, size) if groups > 1 else (1, own)

    def one_by_one(self, lanes: int) -> bool:
        """Whether many states go one after the other: loops over columns whose matrices in lanes fit into no cache."""
        return self.columns and lanes > 1 and (self.span + self.variants[0].workspace) * lanes > self.fit

    def in_lines(self) -> tuple[list[int], int]:
        """Where arguments of one state lie if each begins with a line of memory, and how many reals that takes."""
        ends = list(accumulate(-(-argument.port.size // LINE) * LINE for argument in self.arguments))
        return [0, *ends[:-1]], ends[-1]

    def work(self, lanes: int) -> int:
        """Reals that a call on many states needs, with some to align them."""
        if self.one_by_one(lanes):
            return LINE + lanes * self.in_lines()[1]
        groups, size = self.groups(lanes)
        return lanes * (1 + lanes + groups * size)

    def stack(self, real_bytes: int, *, given: bool = False) -> int:
        """Bytes of stack that a call takes at most, an estimate from above; less if memory is `given`."""
        kept = [(own, own.workspace - own.memory * given) for own in self.variants]
        return max(stack(self.shared.statements + own.statements, reals, real_bytes) for own, reals in kept)

    def within(self, macro: str) -> Iterator[Function]:
        """The function in memory of the caller's, if there is one, in macros of this beginning."""
        if self.memory:
            status = next((a.name for a in self.arguments if a.port == STATUS), "")
            head = f"{macro}_{'STATUS' if status else 'FUNCTION'}({self.symbol}_in)"
            ends = [f"{macro}_RETURN({status})"] if status else []
            place = f"work + ({ALIGNED} - (size_t)work/sizeof(R) % {ALIGNED}) % {ALIGNED}"
            yield within(self.symbol, head, self.declared("T"), "T", place, ends)

    def many_stack(self, lanes: int, real_bytes: int) -> int:
        """The same of a call on many states; where groups take turns, the caller has their workspace."""
        if self.one_by_one(lanes):
            return self.stack(real_bytes)
        first = self.variants[0]
        statements = self.shared.statements + first.statements
        return stack(statements, first.workspace if self.groups(lanes)[0] == 1 else 0, real_bytes, lanes)

    def declared(self, real: str) -> dict[str, str]:
        """The declarations of the arguments by their names, for this type of reals."""
        return {a.name: a.declaration.replace("T *", f"{real} *") for a in self.arguments}

    def heads(self, real: str) -> Iterator[str]:
        """What declares the function, and that in memory of the caller's, if there is one."""
        own = ", ".join(self.declared(real).values())
        yield f"{self.result} {self.symbol}({own})"
        if self.memory:
            yield f"{self.result} {self.symbol}_in({real} *work, {own})"

    def stepped(self, real: str) -> str:
        """The arguments of a function of many states: each array and its step."""
        declared = self.declared(real).values()
        return ", ".join(f"{text}, ptrdiff_t step_{k}" for k, text in enumerate(declared))


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
