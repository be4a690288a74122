"""Parts of a stage, which are functions of SX, as C: long ones are written by rigidc, in CasADi's interface.

CasADi's own C has a line for each operation, and asks for every number whether it is there. Ours has half the text, for
which compilers take a third of the time.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

import casadi
from casadi import SX, Function

from codegen import passes
from codegen.compilation.cache import Build, kept
from codegen.compilation.compiler import toolchain
from codegen.compilation.shared_library import compile_library
from codegen.emission.emit import emit_folder
from codegen.emission.spec import Header, kernel_of
from codegen.errors import RobotError
from codegen.garbage import undisturbed
from codegen.interfaces.casadi import wrapper
from codegen.interfaces.casadi_functions import Exported
from codegen.ocp.compiled import compiled
from codegen.task.options import style_of
from codegen.tracing.sparse_graph import pattern_of, sparse_graph

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from codegen.emission.spec import Style
    from codegen.ocp.chain import Compiler

LONG = 1000
"""Instructions of a function that is worth a library of its own."""

PASSES = partial(
    passes.emitted, passes=(passes.fold_constants, passes.drop_dead), order=(passes.depth_first, passes.last_use_first)
)
"""The chain rule leaves little to the other ones."""


def as_it_is(function: Function) -> Function:
    """The function, which CasADi evaluates."""
    return function


def parts_of(libraries: Sequence[str] | None) -> Compiler:
    """How parts are compiled: short ones with the whole, or alone if the libraries of calls cannot be linked (None)."""
    return partial(_part, short=compiled if libraries is None else as_it_is)


def _part(function: Function, short: Compiler) -> Function:
    if function.n_instructions() > LONG:
        try:
            return emitted(function)
        except RobotError:  # CasADi has operations and numbers that we have not
            pass
    return short(function)


def emitted(function: Function) -> Function:
    """The same function, written by rigidc, from a library whose path it has.

    RobotError if there is an operation or number that C has not, BuildError if no compiler works.
    """
    name, tools = function.name(), toolchain()
    style = replace(style_of("float64", "libm", tools).short, lanes=1, in_place=False)

    def build(work: Path) -> Build:
        with undisturbed():
            files = _files(function, style)
        return Build(compile_library(name, files, work, tools), tuple(files), {"symbol": name})

    place, made, _ = kept(f"part {sha256(function.serialize().encode()).hexdigest()} {style}", build, tools)
    found = casadi.external(name, str(place / made.binary))
    found.library = str(place / made.binary)  # type: ignore[attr-defined]  # for C that calls the function
    return found


def _files(function: Function, style: Style) -> dict[str, str]:
    """File name to text of all sources."""
    inputs = {key: SX.sym(key, function.sparsity_in(key)) for key in function.name_in()}
    outputs = dict(zip(function.name_out(), function.call([*inputs.values()]), strict=True))
    sparse = sparse_graph("value", inputs, outputs, PASSES, {key: pattern_of(y) for key, y in outputs.items()})
    kernel = kernel_of(sparse.function, "rows, costs and derivatives of a stage", sparse.written)
    top = Header("stage", function.name(), 0, 0)
    text = wrapper(top, function.name(), kernel.name, kernel.about, [Exported("", sparse, kernel)])
    files = emit_folder(top, (kernel,), style, {f"{top.c_prefix}_casadi.c": text})
    return {path: text for path, text in files.items() if path.endswith((".c", ".h")) and path != "example.c"}
