"""Functions as C that CasADi generates, compiled into the build cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi

from codegen.compilation.cache import Build, kept
from codegen.compilation.compiler import toolchain
from codegen.compilation.shared_library import compile_library

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def compiled(function: casadi.Function, libraries: Sequence[str] = ()) -> casadi.Function:
    """The same function, from a library that calls these; BuildError if no compiler works."""
    name, tools = function.name(), toolchain()
    generator = casadi.CodeGenerator(name)
    generator.add(function)
    text = generator.dump()

    def build(work: Path) -> Build:
        binary = compile_library(name, {f"{name}.c": text}, work, tools, needed=libraries)
        return Build(binary, (f"{name}.c",), {"symbol": name})

    place, made, _ = kept(f"stage {' '.join(libraries)} {text}", build, tools)
    return casadi.external(name, str(place / made.binary))
