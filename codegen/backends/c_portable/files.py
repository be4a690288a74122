"""The files: a header, a source with all functions, CMakeLists.txt and an example."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.backends.c_portable.functions import emitted
from codegen.backends.c_portable.lines import fitted
from codegen.backends.c_portable.spelling import Words
from codegen.emission.emit import NONE, asked, emit_cmake, emit_example, emit_header, emit_identity
from codegen.emission.splitting import Lengths
from codegen.emission.text import render
from codegen.errors import RobotError
from codegen.languages import SCALARS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.emission.kernels import AnyKernel
    from codegen.emission.spec import Header, Style

LENGTHS = Lengths(whole=10_000, part=2_000)
"""A function is read best in one piece; of more statements than this, compilers are several times faster with parts."""


def style(wanted: Style) -> Style:
    """The style in which it is written: with the C library's sines and cosines, and lengths of its own.

    RobotError if it is to have lanes.
    """
    if wanted.lanes > 1:
        raise RobotError("the backend c_portable has functions of one state only; leave lanes out, or take backend c")
    return replace(wanted, trig="libm", lengths=LENGTHS)


def folder(
    header: Header, kernels: tuple[AnyKernel, ...], style: Style, wrappers: Mapping[str, str] = NONE
) -> dict[str, str]:
    """File name to text, for a folder that builds by itself; `wrappers` are sources that call the kernels."""
    if header.c_prefix.lower() == "example":
        raise RobotError("example.c is the example program; choose another prefix than 'example'")
    words, source = Words(SCALARS[style.dtype]), f"{header.c_prefix}.c"
    functions = [emitted(header, kernel, words, style.lengths) for kernel in asked(header, kernels)]
    text = fitted(render("portable.c.jinja", **header.names, kernels=functions, identity=emit_identity(header)))
    return {
        f"{header.c_prefix}.h": fitted(emit_header(header, functions, "".join((text, *wrappers.values())), style)),
        source: text,
        **wrappers,
        "CMakeLists.txt": emit_cmake(header, [source, *wrappers]),
        "example.c": fitted(emit_example(header, functions[0], [source, *wrappers], words.literal)),
    }
