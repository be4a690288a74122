"""Graphs to C99 text: sources, one header, and a folder that builds by itself.

The text is a pure function of its arguments. Names and notes from a robot file pass through
`codegen.names` on their way.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codegen.backends import BACKENDS
from codegen.backends.angles import INCLUDES as ANGLE_INCLUDES
from codegen.backends.angles import angle_slots
from codegen.backends.language import OPERATORS
from codegen.counting import Count
from codegen.emission.artifact import Artifact
from codegen.emission.flags import FLAGS
from codegen.emission.folder import write_folder
from codegen.emission.sheet import ITERATIONS, LEFT, Header, JointRow, Kernel, LoopKernel, Style
from codegen.emission.statements import statements
from codegen.emission.text import render
from codegen.errors import RobotError
from codegen.graph import STATUS
from codegen.names import comment, identifier, identifiers
from codegen.operations import CONST, INPUT, OPERATIONS
from codegen.packing import Packed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codegen.backends import Language
    from codegen.graph import Graph, Port

__all__ = [
    "Header",
    "JointRow",
    "Kernel",
    "LoopKernel",
    "Style",
    "arguments",
    "emit_artifact",
    "emit_folder",
    "emit_source",
    "symbol",
    "write_folder",
]

SCALAR = Style()
AnyKernel = Kernel | LoopKernel


@dataclass(frozen=True, slots=True)
class Argument:
    """One pointer argument of a C function."""

    name: str
    port: Port
    written: bool

    @property
    def declaration(self) -> str:
        return f"T *{self.name}" if self.written else f"const T *{self.name}"

    @property
    def line(self) -> str:
        way = "out" if self.written else "in "
        about = f": {comment(self.port.about)}" if self.port.about else ""
        shape = " x ".join(map(str, self.port.shape)) or "1"
        return f"{way} {self.name}[{self.port.size}] ({shape}){about}"


@dataclass(frozen=True, slots=True)
class Function:
    """One C function: all before its brace, and its lines."""

    head: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """The functions of a kernel, the last of them the public one, between two lines for the preprocessor."""

    functions: tuple[Function, ...]
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Emitted:
    """The C text of one kernel, before the header exists, in variants of which one is compiled.

    `helpers` are the lines that make the functions of operations which are no operators.
    """

    symbol: str
    algorithm: str
    about: str
    arguments: tuple[Argument, ...]
    variants: tuple[Variant, ...]
    helpers: tuple[str, ...]
    workspace: int
    can_fail: bool
    count: Count
    written: Count

    @property
    def result(self) -> str:
        """What the C function returns: its status, if it has one."""
        return "int" if self.can_fail else "void"

    @property
    def summary(self) -> str:
        return comment(self.about)

    @property
    def macro(self) -> str:
        return self.symbol.upper()

    def work(self, lanes: int) -> int:
        """Reals that a call on many states needs: the arguments of so many lanes, and room to align them."""
        return lanes * (1 + lanes + sum(argument.port.size for argument in self.arguments))

    def stepped(self, real: str) -> str:
        """The arguments of a function of many states: each array and its step."""
        declared = [argument.declaration.replace("T *", f"{real} *") for argument in self.arguments]
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
            r"^(T|R|P[24]|ROW|PLACES|[nikw]|at|count|soa|block|work|[tgsxc]\d+|step_\d+|\w+_)$",
            r"\1 argument",
            port.name,
        )
        for port in ports
    ]
    names = identifiers(taken)
    written = [False] * len(graph.inputs) + [True] * len(graph.outputs)
    return tuple(Argument(*row) for row in zip(names, ports, written, strict=True))


def emit_kernel(header: Header, kernel: AnyKernel, style: Style) -> Emitted:
    """The statements of a kernel, in parts of about `style.chunk` statements."""
    name, macro, given = symbol(header, kernel), header.c_prefix.upper(), arguments(kernel)
    language = style.language(header.c_prefix)
    used = {value.op for graph in kernel.graphs for value in graph.values} - OPERATORS - {CONST, INPUT}
    used -= {"sin", "cos"} if language.own_angles else set()
    helpers = tuple(language.helper(op) for op in OPERATIONS if op in used)
    head = f"{macro}_{'STATUS' if kernel.can_fail else 'FUNCTION'}({name})"
    if isinstance(kernel, LoopKernel):
        made = [_loop(header, kernel, style, head, given)]
    else:
        programs = [Packed(kernel.graph, ()), *([kernel.packed] if kernel.packed else [])]
        made = [_functions(name, head, macro, program, given, language, style.chunk) for program in programs]
    if kernel.can_fail:
        status = next(a.name for a in given if a.port == STATUS)
        made = [((*inner, _returning(public, macro, status)), work) for (*inner, public), work in made]
    fences = [(f"#if !{macro}_PACKS", "#endif"), (f"#if {macro}_PACKS", "#endif")] if len(made) > 1 else [("", "")]
    variants = tuple(Variant(functions, *fence) for (functions, _), fence in zip(made, fences, strict=True))
    facts = max(work for _, work in made), kernel.can_fail, kernel.count, kernel.written
    return Emitted(name, kernel.name, kernel.about, given, variants, helpers, *facts)


def _returning(function: Function, macro: str, status: str) -> Function:
    """A function that ends by returning its status."""
    return Function(function.head, (*function.lines, f"{macro}_RETURN({status})"))


def _loop(
    header: Header, kernel: LoopKernel, style: Style, head: str, given: tuple[Argument, ...]
) -> tuple[tuple[Function, ...], int]:
    """The functions of an iteration's stages, the public one that runs them, and the reals that all keep."""
    name, macro, kept = symbol(header, kernel), header.c_prefix.upper(), 0
    functions: list[Function] = []
    for stage, graph in zip(("prepare", "step", "finish"), kernel.graphs, strict=True):
        own, own_head = f"{name}_{stage}", f"{macro}_APART void {name}_{stage}"
        made, workspace = _functions(
            own, own_head, macro, Packed(graph, ()), arguments(graph), style.language(header.c_prefix), style.chunk
        )
        functions += made
        kept = max(kept, workspace)
    work, state = (port.size for port in kernel.stages.prepare.outputs)
    inputs, names = len(kernel.inputs), [a.name for a in given]
    called = {a.port.name: a.name for a in given[inputs:]}
    text = render(
        "loop.jinja",
        **_names(header),
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
    return (*functions, Function(public, tuple(text.splitlines()))), work + 2 * state + 1 + kept


def _functions(
    name: str, head: str, macro: str, program: Packed, given: tuple[Argument, ...], language: Language, chunk: int
) -> tuple[tuple[Function, ...], int]:
    """One function, or one per part and one under `head` that calls them in order; and the length of its workspace."""
    parts, workspace = statements(program.graph, [a.name for a in given], language, chunk, program.packs)
    declared = {a.name: a.declaration for a in given} | {"w": "T *w"}
    public = f"{head}({', '.join(a.declaration for a in given)})"
    bodies = [tuple(f"(void){unused};" for unused in part.unused) + part.lines for part in parts]
    if len(parts) == 1:
        return (Function(public, bodies[0]),), workspace
    heads = [
        f"{macro}_APART void {name}_part_{k}({', '.join(declared[argument] for argument in part.names)})"
        for k, part in enumerate(parts)
    ]
    calls = [f"{name}_part_{k}({', '.join(part.names)});" for k, part in enumerate(parts)]
    inner = [Function(*pair) for pair in zip(heads, bodies, strict=True)]
    return (*inner, Function(public, (f"T w[{workspace}];", *calls))), workspace


def emit_source(header: Header, kernel: AnyKernel, style: Style = SCALAR) -> str:
    """The C99 source of one kernel."""
    return _source(header, emit_kernel(header, kernel, style))


def _source(header: Header, emitted: Emitted) -> str:
    return render("kernel.c.jinja", **_names(header), kernel=emitted)


def _names(header: Header) -> dict[str, str]:
    prefix = header.c_prefix
    return {"prefix": prefix, "PREFIX": prefix.upper(), "robot": comment(header.robot)}


def emit_real(header: Header, style: Style) -> str:
    """The private header of all kernels: their real type, and its sine and cosine."""
    backend, names, own = BACKENDS[style.dtype], _names(header), style.language(header.c_prefix).own_angles
    angles = render("angles.jinja", **names, f=backend.suffix, **angle_slots(style.dtype)) if own else ""
    return render(
        "real.h.jinja",
        **names,
        real=backend.real,
        lanes=style.lanes,
        includes=("math.h", "stddef.h", *(ANGLE_INCLUDES if own else ())),
        angles=angles.splitlines(),
    )


def emit_lanes(header: Header, emitted: Emitted, style: Style) -> str:
    """The C source of a kernel for many states, `style.lanes` at a time."""
    rows, place = [], 0
    for number, a in enumerate(emitted.arguments):
        rows.append({"number": number, "name": a.name, "written": a.written, "size": a.port.size, "place": place})
        rows[-1]["block"] = f"block + {place}"
        place += a.port.size
    return render(
        "lanes.c.jinja",
        **_names(header),
        kernel=emitted,
        lanes=style.lanes,
        f=BACKENDS[style.dtype].suffix,
        widths=[width for width in (8, 4, 2, 1) if width < style.lanes],
        swaps=list(_swaps(style.lanes)),
        arguments=rows,
        declarations=emitted.stepped("R"),
        passed=[f"{a.name}, step_{k}" for k, a in enumerate(emitted.arguments)],
    )


def _swaps(lanes: int) -> Iterator[tuple[int, int, list[int], list[int]]]:
    """The transposition of a square: pairs of rows, and which elements of the two each row takes."""
    distance = lanes // 2
    while distance:
        for first in range(lanes):
            if not first & distance:
                low = [k if not k & distance else lanes + k - distance for k in range(lanes)]
                high = [k + distance if not k & distance else lanes + k for k in range(lanes)]
                yield first, first + distance, low, high
        distance //= 2


def _header(header: Header, emitted: list[Emitted], sources: str, style: Style) -> str:
    identifiers([kernel.algorithm for kernel in emitted])
    return render(
        "header.h.jinja",
        **_names(header),
        real=BACKENDS[style.dtype].real,
        header=header,
        convention=comment(header.convention),
        gravity=" ".join(f"{component!r}" for component in header.gravity),
        joints=[_joint_line(row) for row in header.joints],
        remarks=[comment(remark) for remark in (*_remarks(style), *header.notes)],
        kernels=emitted,
        wide=[style.lanes] * (style.lanes > 1),
        includes=["stddef.h"] * (style.lanes > 1),
        digest=comment(header.digest),
        content=hashlib.sha256(sources.encode()).hexdigest(),
    )


ANGLES = {
    "fast": "Sines and cosines are computed inline: at most 1 ulp off for angles up to 1e5, by the C library beyond.",
    "libm": "Sines and cosines are those of the C library.",
}
MANY = (
    "Functions of many states, {lanes} at a time: _aos takes arrays of states, a step being the distance between two",
    "states (0 repeats one); _soa takes arrays of elements, a step being the distance between two elements. Any number",
    "of states will do; `work` is scratch memory of the caller.",
)


def _remarks(style: Style) -> Iterator[str]:
    """What the header says about the way in which its functions are written and compiled."""
    yield ANGLES[style.trig]
    if style.lanes > 1:
        yield from (line.format(lanes=style.lanes) for line in MANY)
    if style.built:
        yield style.built


def _joint_line(row: JointRow) -> str:
    def span(name: str, ends: tuple[int, int]) -> str:
        first, last = ends[0], ends[1] - 1
        return "-" if last < first else f"{name}[{first}]" if first == last else f"{name}[{first}..{last}]"

    return f"{span('q', row.q):<12} {span('v', row.v):<12} {comment(row.type):<10} {comment(row.name)}"


def _sources(header: Header, emitted: list[Emitted], style: Style) -> dict[str, str]:
    """File name to text: what all kernels share, and each kernel."""
    sources = {f"{header.c_prefix}_real.h": emit_real(header, style)}
    for e in emitted:
        sources[f"{e.symbol}.c"] = _source(header, e)
        if style.lanes > 1:
            sources[f"{e.symbol}_lanes.c"] = emit_lanes(header, e, style)
    return sources


def emit_folder(header: Header, kernels: tuple[AnyKernel, ...], style: Style = SCALAR) -> dict[str, str]:
    """File name to text, for a folder that builds by itself: headers, sources, CMake, pkg-config, example."""
    if not kernels:
        raise RobotError(f"{header.robot}: no algorithm was asked for; name at least one")
    emitted = [emit_kernel(header, kernel, style) for kernel in kernels]
    sources = _sources(header, emitted, style)
    text = _header(header, emitted, "".join(sources.values()), style)
    slots = {**_names(header), "sources": [name for name in sources if name.endswith(".c")]}
    return {
        f"{header.c_prefix}.h": text,
        **sources,
        "CMakeLists.txt": render("CMakeLists.txt.jinja", flags=FLAGS, **slots),
        f"{header.c_prefix}.pc": render("library.pc.jinja", version=comment(header.digest)[:12] or "0", **slots),
        "example.c": _example(header, emitted[0], slots),
    }


def _example(header: Header, kernel: Emitted, slots: dict[str, Any]) -> str:
    """A program that calls one kernel at the neutral configuration, everything else zero."""
    setup = []
    for argument in kernel.arguments:
        neutral = argument.port.name == "q" and len(header.neutral) == argument.port.size > 0
        values = ", ".join(f"{number:g}" for number in header.neutral) if neutral else "0"
        setup.append(f"{argument.name}[{max(argument.port.size, 1)}] = {{{values}}}")
    first = next(argument for argument in kernel.arguments if argument.written)
    slots = slots | {"kernel": kernel, "setup": setup, "first": first.name, "length": first.port.size}
    return render("example.c.jinja", **slots)


def emit_artifact(header: Header, kernel: AnyKernel, style: Style = SCALAR) -> Artifact:
    """All that a callable of one kernel is compiled from, its loop over many states included."""
    emitted = emit_kernel(header, kernel, style)
    name, real = emitted.symbol, BACKENDS[style.dtype].real
    declared = ", ".join(a.declaration.replace("T *", f"{real} *") for a in emitted.arguments)
    many = f"size_t n, {emitted.stepped(real)}, {real} *work"
    declarations = f"{emitted.result} {name}({declared});\nvoid {name}_aos({many});\n"
    sources = _sources(header, [emitted], style)
    sources[f"{name}_lanes.c"] = emit_lanes(header, emitted, style)
    shared = f"{header.c_prefix}_real.h"
    text = _header(header, [emitted], "".join(sources.values()), style)
    files = (
        (f"{header.c_prefix}.h", text),
        (f"{name}.c", sources[f"{name}.c"]),
        (f"{name}_lanes.c", sources[f"{name}_lanes.c"]),
        (shared, sources[shared]),
    )
    ports = kernel.inputs, kernel.outputs
    sizes = style.lanes, emitted.work(style.lanes)
    return Artifact(kernel.name, name, *ports, style.dtype, *sizes, emitted.count, kernel.written, declarations, files)
