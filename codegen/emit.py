"""Graphs to C99 text: sources, one header, and a folder that builds by itself.

The text is a pure function of its arguments. Names and notes from a robot file pass through
`codegen.names` on their way.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codegen.artifact import Artifact
from codegen.backends import BACKENDS
from codegen.counting import Count, count
from codegen.errors import RobotError
from codegen.folder import write_folder
from codegen.names import comment, identifier, identifiers
from codegen.sheet import Header, JointRow, Kernel
from codegen.statements import Part, statements
from codegen.text import render

if TYPE_CHECKING:
    from codegen.graph import Graph, Port

__all__ = [
    "CHUNK",
    "Header",
    "JointRow",
    "Kernel",
    "arguments",
    "emit_artifact",
    "emit_batch",
    "emit_folder",
    "emit_source",
    "symbol",
    "write_folder",
]

CHUNK = 4000
"""Statements per C function: beyond this gcc's time and memory grow faster than the source."""


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
class Emitted:
    """The C text of one kernel, before the header exists; the last of `functions` is the public one.

    `apart` holds the name of a macro that keeps the other ones from being joined to it, where there are any.
    """

    symbol: str
    algorithm: str
    about: str
    arguments: tuple[Argument, ...]
    functions: tuple[Function, ...]
    apart: tuple[str, ...]
    workspace: int
    count: Count
    written: Count

    @property
    def summary(self) -> str:
        return comment(self.about)

    @property
    def macro(self) -> str:
        return self.symbol.upper()


def symbol(header: Header, graph: Graph) -> str:
    """The C name of a graph's function."""
    return f"{header.c_prefix}_{identifier(graph.name)}"


def arguments(graph: Graph) -> tuple[Argument, ...]:
    """The pointer arguments of a graph's function: inputs, then outputs."""
    ports = (*graph.inputs, *graph.outputs)
    # Local names of the emitted code are w, T and t followed by digits; an argument must not take one.
    taken = [re.sub(r"^(T|w|t\d+)$", r"\1 argument", port.name) for port in ports]
    names = identifiers(taken)
    written = [False] * len(graph.inputs) + [True] * len(graph.outputs)
    return tuple(Argument(*row) for row in zip(names, ports, written, strict=True))


def emit_kernel(header: Header, kernel: Kernel, dtype: str = "float64", chunk: int = CHUNK) -> Emitted:
    """The statements of a kernel, in parts of about `chunk` statements."""
    graph = kernel.graph
    given = arguments(graph)
    parts, workspace = statements(graph, [a.name for a in given], BACKENDS[dtype], chunk)
    name = symbol(header, graph)
    apart = f"{header.c_prefix.upper()}_APART"
    functions = _functions(name, given, parts, workspace, apart)
    about = graph.name, kernel.about, given, functions, (apart,) if len(parts) > 1 else ()
    return Emitted(name, *about, workspace, count(graph), kernel.written)


def _functions(
    name: str, given: tuple[Argument, ...], parts: tuple[Part, ...], workspace: int, apart: str
) -> tuple[Function, ...]:
    """One function, or one per part and a public one that calls them in order."""
    declared = {a.name: a.declaration for a in given} | {"w": "T *w"}
    public = f"void {name}({', '.join(a.declaration for a in given)})"
    bodies = [tuple(f"(void){unused};" for unused in part.unused) + part.lines for part in parts]
    if len(parts) == 1:
        return (Function(public, bodies[0]),)
    heads = [
        f"static {apart} void {name}_part_{k}({', '.join(declared[argument] for argument in part.names)})"
        for k, part in enumerate(parts)
    ]
    calls = [f"{name}_part_{k}({', '.join(part.names)});" for k, part in enumerate(parts)]
    inner = [Function(*pair) for pair in zip(heads, bodies, strict=True)]
    return (*inner, Function(public, (f"T w[{workspace}];", *calls)))


def emit_source(header: Header, kernel: Kernel, dtype: str = "float64", chunk: int = CHUNK) -> str:
    """The C99 source of one kernel."""
    emitted = emit_kernel(header, kernel, dtype, chunk)
    return render("kernel.c.jinja", prefix=header.c_prefix, robot=comment(header.robot), kernel=emitted)


def _header(header: Header, emitted: list[Emitted], sources: str, dtype: str) -> str:
    identifiers([kernel.algorithm for kernel in emitted])
    return render(
        "header.h.jinja",
        prefix=header.c_prefix,
        PREFIX=header.c_prefix.upper(),
        robot=comment(header.robot),
        real=BACKENDS[dtype].real,
        header=header,
        convention=comment(header.convention),
        gravity=" ".join(f"{component!r}" for component in header.gravity),
        joints=[_joint_line(row) for row in header.joints],
        notes=[comment(note) for note in header.notes],
        kernels=emitted,
        digest=comment(header.digest),
        content=hashlib.sha256(sources.encode()).hexdigest(),
    )


def _joint_line(row: JointRow) -> str:
    def span(name: str, ends: tuple[int, int]) -> str:
        first, last = ends[0], ends[1] - 1
        return "-" if last < first else f"{name}[{first}]" if first == last else f"{name}[{first}..{last}]"

    return f"{span('q', row.q):<12} {span('v', row.v):<12} {comment(row.type):<10} {comment(row.name)}"


def emit_batch(header: Header, kernel: Kernel) -> str:
    """The C source of the loop over states that an extension adds to a kernel."""
    given = arguments(kernel.graph)
    return render(
        "batch.c.jinja",
        prefix=header.c_prefix,
        PREFIX=header.c_prefix.upper(),
        symbol=symbol(header, kernel.graph),
        declarations=[f"{a.declaration}, ptrdiff_t step_{k}" for k, a in enumerate(given)],
        advanced=[f"{a.name} + k*step_{k}" for k, a in enumerate(given)],
    )


def emit_folder(
    header: Header, kernels: tuple[Kernel, ...], dtype: str = "float64", chunk: int = CHUNK
) -> dict[str, str]:
    """File name to text, for a folder that builds by itself: header, sources, CMake, pkg-config, example."""
    if not kernels:
        raise RobotError(f"{header.robot}: no algorithm was asked for; name at least one")
    emitted = [emit_kernel(header, kernel, dtype, chunk) for kernel in kernels]
    prefix, robot = header.c_prefix, comment(header.robot)
    sources = {f"{e.symbol}.c": render("kernel.c.jinja", prefix=prefix, robot=robot, kernel=e) for e in emitted}
    text = _header(header, emitted, "".join(sources.values()), dtype)
    slots = {"prefix": prefix, "PREFIX": prefix.upper(), "robot": robot, "sources": list(sources)}
    return {
        f"{prefix}.h": text,
        **sources,
        "CMakeLists.txt": render("CMakeLists.txt.jinja", **slots),
        f"{prefix}.pc": render("library.pc.jinja", version=comment(header.digest)[:12] or "0", **slots),
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


def emit_artifact(header: Header, kernel: Kernel, dtype: str = "float64", chunk: int = CHUNK) -> Artifact:
    """All that a callable of one kernel is compiled from."""
    emitted = emit_kernel(header, kernel, dtype, chunk)
    graph, name, real = kernel.graph, emitted.symbol, BACKENDS[dtype].real
    declared = [a.declaration.replace("T *", f"{real} *") for a in emitted.arguments]
    looped = ", ".join(f"{text}, ptrdiff_t step_{k}" for k, text in enumerate(declared))
    declarations = f"void {name}({', '.join(declared)});\nvoid {name}_batch(size_t n, {looped});\n"
    source = emit_source(header, kernel, dtype, chunk)
    files = (
        (f"{header.c_prefix}.h", _header(header, [emitted], source, dtype)),
        (f"{name}.c", source),
        (f"{name}_batch.c", emit_batch(header, kernel)),
    )
    ports = graph.inputs, graph.outputs
    return Artifact(graph.name, name, *ports, dtype, emitted.count, kernel.written, declarations, files)
