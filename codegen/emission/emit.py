"""Kernels to C99 text: sources, one header, and a folder that builds by itself.

The text is a pure function of its arguments. Names and notes from a robot file pass through
`codegen.ir.names` on their way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, cycle, islice
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from codegen.emission.artifact import Artifact
from codegen.emission.cplusplus import emit_cplusplus
from codegen.emission.emitted import Emitted
from codegen.emission.flags import FLAGS, OPTIONS
from codegen.emission.folder import write_folder
from codegen.emission.functions import Call
from codegen.emission.index_constants import patterns
from codegen.emission.kernels import AnyKernel, arguments, emit_drafts, emit_kernel, symbol
from codegen.emission.spec import Header, JointRow, Kernel, LoopKernel, Style
from codegen.emission.text import render
from codegen.errors import RobotError
from codegen.ir.names import comment, identifiers, wrapped
from codegen.languages import SCALARS
from codegen.languages.angles import INCLUDES as ANGLE_INCLUDES
from codegen.languages.angles import angle_slots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "Header",
    "JointRow",
    "Kernel",
    "LoopKernel",
    "Style",
    "arguments",
    "emit_artifact",
    "emit_artifacts",
    "emit_folder",
    "emit_source",
    "symbol",
    "write_folder",
]

SCALAR = Style()
NONE: Mapping[str, str] = MappingProxyType({})

INTERFACE = "1.1.0"
"""The version of emitted folders, for find_package and pkg-config: that of their names, arguments and targets. Its
first number changes when a program that used a folder no longer builds with that of the same robot and algorithms."""

ABI = int(INTERFACE.partition(".")[0])
"""What a compiled library says of its interface (`codegen.compilation.identity`)."""

EXTENSIONS = {
    "__AVX__": "avx",
    "__AVX2__": "avx2",
    "__FMA__": "fma",
    "__BMI2__": "bmi2",
    "__AVX512F__": "avx512f",
    "__AVX512DQ__": "avx512dq",
    "__AVX512BW__": "avx512bw",
    "__AVX512VL__": "avx512vl",
}
"""Extensions of processors, by the macros of compilers that may use them."""

MOST_STACK = 2**22
"""Bytes that a callable may take at a call on many states: half of what Linux gives to a thread."""

JOINED = {"float64": {"suffix": "pd", "vector": "d"}, "float32": {"suffix": "ps", "vector": ""}}
"""What Intel's intrinsics for registers of 512 bits end in, and their types."""

WIDE = {"float64": "__AVX512F__", "float32": "__AVX2__"}
"""Where a register holds eight reals."""

EIGHTS = {"float64": "{}_512", "float32": "defined(__AVX2__)"}
"""Where it stores so many as fast wherever they begin (see `codegen.emission.variants`)."""

SHORT = 16
"""Bytes of the shortest SIMD registers, of which longer ones are rows."""


def emit_source(header: Header, kernel: AnyKernel, style: Style = SCALAR) -> str:
    """The C99 source of one kernel."""
    return _source(header, emit_kernel(header, kernel, style))


def _source(header: Header, emitted: Emitted) -> str:
    return render("kernel.c.jinja", **header.names, kernel=emitted, within=emitted.within(header.names["PREFIX"]))


def emit_real(header: Header, style: Style, *, whole: bool = False) -> str:
    """The private header of all kernels: their real type, and its sine and cosine; results may have to be `whole`."""
    backend, names, own = SCALARS[style.dtype], header.names, style.language(header.c_prefix).own_angles
    angles = render("angles.jinja", **names, f=backend.suffix, **angle_slots(style.dtype)) if own else ""
    return render(
        "real.h.jinja",
        **names,
        real=backend.real,
        lanes=style.lanes,
        wide=WIDE[style.dtype],
        eights=EIGHTS[style.dtype].format(header.names["PREFIX"]),
        options=[f'"{option}"' for option in OPTIONS],
        includes=("math.h", "stddef.h", *(ANGLE_INCLUDES if own else ())),
        angles=angles.splitlines(),
        refused=[f"{header.names['PREFIX']}_ZEROS_PRESET"] * whole,
    )


def emit_identity(header: Header) -> str:
    """The functions by which a compiled library tells its interface and its model."""
    return render("identity.jinja", **header.names, abi=ABI, model=header.model)


def emit_lanes(header: Header, emitted: Emitted, style: Style) -> str:
    """The C source of a kernel for many states, `style.lanes` at a time, or one after the other."""
    return (_one_by_one if emitted.one_by_one(style.lanes) else _in_lanes)(header, emitted, style)


def _one_by_one(header: Header, emitted: Emitted, style: Style) -> str:
    places, size = emitted.in_lines()
    rows = [
        {"number": number, "name": a.name, "written": a.written, "size": a.port.size, "place": place}
        for number, (a, place) in enumerate(zip(emitted.arguments, places, strict=True))
    ]
    in_rows = [f"{row['name']} + state*step_{row['number']}" for row in rows]
    in_work = [f"own + {place}" for place in places]
    return render(
        "states.c.jinja",
        **header.names,
        kernel=emitted,
        lanes=style.lanes,
        arguments=rows,
        size=size,
        few=style.cached // sum(a.port.size for a in emitted.arguments if a.written),
        declarations=emitted.stepped("R"),
        in_rows=in_rows,
        in_work=in_work,
        from_rows=[
            to if a.written else given for a, given, to in zip(emitted.arguments, in_rows, in_work, strict=True)
        ],
    )


def _in_lanes(header: Header, emitted: Emitted, style: Style) -> str:
    rows = [
        {
            "number": number,
            "name": a.name,
            "written": a.written,
            "size": a.port.size,
            "used": a.used,
            "place": place,
            "kept": _kept_lines(emitted.kept[a.port.name], style.lanes) if a.written else (),
        }
        for number, (a, place) in enumerate(emitted.places())
    ]
    places = {row["name"]: f"block + {row['place']}" for row in rows} | {"w": f"block + {emitted.span}"}
    whole = Call(f"{emitted.symbol}_lanes", tuple(a.name for a in emitted.arguments))
    groups, size = emitted.groups(style.lanes)
    parts = emitted.calls if groups > 1 else (whole,)
    return render(
        "lanes.c.jinja",
        **header.names,
        kernel=emitted,
        lanes=style.lanes,
        f=SCALARS[style.dtype].suffix,
        kept="short" if max(a.port.size for a in emitted.arguments) < 2**15 else "int",
        line=style.lanes * np.dtype(style.dtype).itemsize,
        **JOINED[style.dtype],
        widths=[width for width in (8, 4, 2, 1) if width < style.lanes],
        swaps=list(_swaps(style.lanes, SHORT // np.dtype(style.dtype).itemsize)),
        arguments=rows,
        groups=groups,
        size=size,
        calls=[Call(part.name, tuple(places[name] for name in part.arguments)) for part in parts],
        declarations=emitted.stepped("R"),
        passed=[f"{a.name}, step_{k}" for k, a in enumerate(emitted.arguments)],
    )


def _kept_lines(places: tuple[int, ...], lanes: int) -> list[str]:
    """The places of a result, at least those of one square."""
    return wrapped(", ".join(map(str, (*places, *places[-1:] * (lanes - len(places))))))


def _swaps(lanes: int, short: int) -> Iterator[tuple[int, int, list[int], list[int]]]:
    """The transposition of a square: pairs of rows, and which elements of the two each row takes.

    Below `short`, the elements in 128 bits, rows exchange neighbours. Whole runs of that length are then divided into
    even and odd ones, for which SIMD units have instructions without a table of places.
    """
    distance = 1
    while distance < lanes:
        run, both = min(distance, short), range(2 * lanes)
        for first in (row for row in range(lanes) if not row & distance):
            if run < short:
                low = [k if not k & run else lanes + k - run for k in range(lanes)]
                high = [k + run if not k & run else lanes + k for k in range(lanes)]
            else:
                low, high = ([k for k in both if bool(k & run) is odd] for odd in (False, True))
            yield first, first + distance, low, high
        distance *= 2


def emit_header(header: Header, emitted: list[Emitted], sources: str, style: Style, *, whole: bool = False) -> str:
    """The header of these kernels; its content hash is that of their sources. Results may have to be `whole`."""
    identifiers([kernel.algorithm for kernel in emitted])
    real_bytes = np.dtype(style.dtype).itemsize
    return render(
        "header.h.jinja",
        **header.names,
        real=SCALARS[style.dtype].real,
        header=header,
        convention=comment(header.convention),
        gravity=" ".join(f"{component!r}" for component in header.gravity),
        joints=[_joint_line(row) for row in header.joints],
        contacts=_contact_lines(header),
        remarks=[comment(remark) for remark in (*_remarks(header, emitted, style, whole), *header.notes)],
        kernels=emitted,
        patterns={kernel.symbol: list(patterns(kernel)) for kernel in emitted},
        sizes={kernel.symbol: _sizes(kernel, real_bytes) for kernel in emitted},
        real_bytes=real_bytes,
        wide=[style.lanes] * (style.lanes > 1),
        includes=["stddef.h"] * (style.lanes > 1),
        digest=comment(header.digest),
        abi=ABI,
        content=hashlib.sha256(sources.encode()).hexdigest(),
    )


ANGLES = {
    "fast": "Sines and cosines are computed inline: at most 1 ulp off for angles up to 1e5, by the C library beyond.",
    "libm": "Sines and cosines are those of the C library.",
}
MANY = (
    "Functions of many states, {lanes} at a time, or one after the other where a source says so: _aos takes arrays of",
    "states, a step being the distance between two states (0 repeats one); _soa takes arrays of elements, a step being",
    "the distance between two elements. Any number of states will do; `work` is scratch memory of the caller.",
)


NONZEROS = (
    "Sparse results are the nonzeros of matrices, column by column: those of column c from place _colind[c] on, and",
    "before place _colind[c + 1]. _row holds the row of each.",
)

IN_STEP = (
    "Where there are SIMD registers, limbs of one shape go in step, or columns of matrices do, as elements of small",
    "vectors; {PREFIX}_PLAIN, defined for the compiler, asks for one number at a time. Results differ by rounding.",
)

PRESET = (
    "Every call stores elements of results, too, that are zero for every input. {PREFIX}_ZEROS_PRESET, defined for the",
    "compiler of these sources, leaves most of them out: callers set results to zero before the first call, and give",
    "no array as an input and a result.",
)


def _remarks(header: Header, emitted: list[Emitted], style: Style, whole: bool) -> Iterator[str]:
    """What the header says about the way in which its functions are written and compiled."""
    yield ANGLES[style.trig]
    if any(len(kernel.variants) > 1 for kernel in emitted):
        yield from (line.format(**header.names) for line in IN_STEP)
    if not whole and any(kernel.presets for kernel in emitted):
        yield from (line.format(**header.names) for line in PRESET)
    if any(argument.port.pattern for kernel in emitted for argument in kernel.arguments):
        yield from NONZEROS
    if style.lanes > 1:
        yield from (line.format(lanes=style.lanes) for line in MANY)
    if style.built:
        yield style.built


def _sizes(kernel: Emitted, real_bytes: int) -> Iterator[tuple[str, str]]:
    """What a call keeps on the stack: comments, and macros with their numbers."""
    if kernel.workspace:
        yield (
            f"Reals that {kernel.symbol} keeps on the stack to hand values between its parts; the caller owns none.",
            f"WORKSPACE {kernel.workspace}",
        )
    yield (
        "Bytes of stack that a call takes at most by GCC or clang at -O2, estimated from what is alive at once.",
        f"STACK {kernel.stack(real_bytes)}",
    )
    if kernel.memory:
        yield (
            f"Reals of `work`, which {kernel.symbol}_in takes in place of as many on the stack.",
            f"MEMORY {kernel.memory}",
        )
        yield "Bytes of stack that it takes besides.", f"IN_STACK {kernel.stack(real_bytes, given=True)}"


def _joint_line(row: JointRow) -> str:
    def span(name: str, ends: tuple[int, int]) -> str:
        first, last = ends[0], ends[1] - 1
        return "-" if last < first else f"{name}[{first}]" if first == last else f"{name}[{first}..{last}]"

    return f"{span('q', row.q):<12} {span('v', row.v):<12} {comment(row.type):<10} {comment(row.name)}"


def _contact_lines(header: Header) -> list[str]:
    """The lines on contacts, behind an empty one; none if nothing is said of them."""
    lines = [line for about in header.contacts[:1] for line in ("", *wrapped(about, " "))]
    return lines + [line for about in header.contacts[1:] for line in wrapped(about, "   ", "  ")]


def _sources(header: Header, emitted: list[Emitted], style: Style, *, whole: bool = False) -> dict[str, str]:
    """File name to text: what all kernels share, and each kernel."""
    sources = {f"{header.c_prefix}_real.h": emit_real(header, style, whole=whole)}
    for e in emitted:
        sources[f"{e.symbol}.c"] = _source(header, e)
        if style.lanes > 1:
            sources[f"{e.symbol}_lanes.c"] = emit_lanes(header, e, style)
    return sources


def asked(header: Header, kernels: tuple[AnyKernel, ...]) -> tuple[AnyKernel, ...]:
    """The kernels; RobotError if there are none."""
    if not kernels:
        raise RobotError(f"{header.robot}: no algorithm was asked for; name at least one")
    return kernels


def emit_folder(
    header: Header, kernels: tuple[AnyKernel, ...], style: Style = SCALAR, wrappers: Mapping[str, str] = NONE
) -> dict[str, str]:
    """File name to text, for a folder that builds by itself: headers, sources, CMake, pkg-config, example.

    `wrappers` are further sources, which call the kernels, and whose callers want whole results, with zeros.
    """
    emitted = [emit_kernel(header, kernel, style) for kernel in asked(header, kernels)]
    said = f"/* Generated by rigidc. {header.names['robot']}: identity, what a library was generated as. */\n"
    processor = render("processor.jinja", **header.names, extensions=EXTENSIONS.items())
    identity = f'{said}\n#include "{header.c_prefix}.h"\n\n{emit_identity(header)}\n{processor}'
    own = _sources(header, emitted, style, whole=bool(wrappers))
    sources = {**own, f"{header.c_prefix}_identity.c": identity, **wrappers}
    text = emit_header(header, emitted, "".join(sources.values()), style, whole=bool(wrappers))
    compiled, package = [name for name in sources if name.endswith(".c")], f"{header.c_prefix}.pc"
    return {
        f"{header.c_prefix}.h": text,
        f"{header.c_prefix}.hpp": emit_cplusplus(header, emitted),
        **sources,
        "CMakeLists.txt": emit_cmake(header, compiled, [package]),
        package: render("library.pc.jinja", version=INTERFACE, **header.names),
        "example.c": emit_example(header, emitted[0], compiled),
    }


def emit_cmake(header: Header, sources: Sequence[str], packages: Sequence[str] = ()) -> str:
    """What builds and installs a library of these sources; `packages` are files for pkg-config to install."""
    headers = [f"{header.c_prefix}.h", *(f"{header.c_prefix}.hpp" for _ in packages)]
    slots = {"sources": sources, "packages": packages, "headers": headers, "flags": FLAGS, "interface": INTERFACE}
    return render("CMakeLists.txt.jinja", **header.names, **slots)


def emit_example(
    header: Header, kernel: Emitted, sources: Sequence[str], literal: Callable[[float], str] = "{:g}".format
) -> str:
    """A program that calls one kernel with the usual arguments, all others zero."""
    setup, usual = [], dict(header.usual)
    for argument in kernel.arguments:
        size = max(argument.port.size, 1)
        numbers = islice(cycle(usual.get(argument.port.name, ())), size)
        values = ", ".join(map(literal, numbers)) or literal(0.0)
        setup.append(f"{argument.name}[{size}] = {{{values}}}")
    first = next(argument for argument in kernel.arguments if argument.written)
    slots = {"kernel": kernel, "setup": setup, "first": first.name, "length": first.port.size}
    return render("example.c.jinja", **header.names, sources=sources, **slots)


def emit_artifact(header: Header, kernel: AnyKernel, style: Style = SCALAR) -> Artifact:
    """All that a callable of one kernel is compiled from, its loop over many states included."""
    *_, artifact = emit_artifacts(header, kernel, style)
    return artifact


def emit_artifacts(header: Header, kernel: AnyKernel, style: Style = SCALAR) -> Iterator[Artifact]:
    """Drafts of that, of which the last is whole; they differ in the kernel's own source and in the header's words.

    They have fewer lanes than the style where so many would take too much stack.
    """
    drafts = emit_drafts(header, kernel, style)
    first, lanes, size = next(drafts), style.lanes, np.dtype(style.dtype).itemsize
    while lanes > 1 and first.many_stack(lanes, size) > MOST_STACK:
        lanes //= 2
    if lanes < style.lanes:
        style = replace(style, lanes=lanes)
        drafts = emit_drafts(header, kernel, style)
        first = next(drafts)
    return (_artifact(header, kernel, style, emitted) for emitted in chain((first,), drafts))


def _artifact(header: Header, kernel: AnyKernel, style: Style, emitted: Emitted) -> Artifact:
    name, real = emitted.symbol, SCALARS[style.dtype].real
    many = f"size_t n, {emitted.stepped(real)}, {real} *work"
    declarations = f"{next(emitted.heads(real))};\nvoid {name}_aos({many});\n"
    sources = _sources(header, [emitted], style)
    sources[f"{name}_lanes.c"] = emit_lanes(header, emitted, style)
    shared = f"{header.c_prefix}_real.h"
    text = emit_header(header, [emitted], "".join(sources.values()), style)
    files = (
        (f"{header.c_prefix}.h", text),
        (f"{name}.c", sources[f"{name}.c"]),
        (f"{name}_lanes.c", sources[f"{name}_lanes.c"]),
        (shared, sources[shared]),
    )
    ports = kernel.inputs, kernel.outputs
    sizes = style.lanes, emitted.work(style.lanes)
    return Artifact(kernel.name, name, *ports, style.dtype, *sizes, emitted.count, kernel.written, declarations, files)
