"""The C that makes a kernel Python functions of NumPy arrays, beside what cffi makes of it.

A call through them costs a fraction of what it takes to look at every array in Python and to wrap it for cffi.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.compilation.memory import LARGE
from codegen.emission.text import render
from codegen.ir.graph import STATUS

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.emission.artifact import Artifact


def binding(artifact: Artifact) -> tuple[str, str]:
    """What cffi is to declare, and the C source beside the kernel."""
    symbol, declarations = artifact.symbol, artifact.declarations
    if sys.implementation.name != "cpython":
        return declarations, declarations
    flags = ["READ"] * len(artifact.inputs) + ["WRITTEN"] * len(artifact.outputs)
    real = "double" if artifact.dtype == "float64" else "float"
    ports = [
        {
            "name": port.name,
            "nd": len(port.shape),
            "size": port.size,
            "shape": ", ".join(map(str, port.shape)) or "0",
            "flags": flag,
        }
        for port, flag in zip((*artifact.inputs, *artifact.outputs), flags, strict=True)
    ]
    places = [f"({real} *)p[{k}]" for k in range(len(ports))]
    kernel = f"{symbol}({', '.join(places)})"
    steps = ", ".join(f"{place}, s[{k}]" for k, place in enumerate(places))
    source = render(
        "binding.c.jinja",
        symbol=symbol,
        declarations=declarations,
        real=real,
        ports=ports,
        inputs=len(artifact.inputs),
        rank=max(1, *(len(port.shape) for port in (*artifact.inputs, *artifact.outputs))),
        kernel=f"status = {kernel}" if declarations.startswith("int ") else kernel,
        batch=f"{symbol}_aos((size_t)states, {steps}, work)",
        work=artifact.work,
        numbers=sum(port.size for port in artifact.outputs if port != STATUS),
        large=LARGE,
    )
    return f"{declarations}void {symbol}_function(size_t list, size_t settings, size_t array, size_t data);\n", source


def function_of(artifact: Artifact, library: Any, settings: tuple[Any, ...] | None = None) -> Callable[..., Any] | None:
    """The kernel on arrays, if the library has it and arrays are as it expects; with settings, what users call.

    The kernel takes inputs and outputs and gives the status, or -1 where there is anything that C cannot take as it is.
    What users call takes inputs, and perhaps `out`, and gives results. Its settings are who takes any other call,
    `numpy.empty`, the type of reals, that of several results, and the shapes of the results.
    """
    make = getattr(library, f"{artifact.symbol}_function", None)
    made: list[Callable[..., Any]] = []
    if make:
        probe = np.zeros((3, 5), artifact.dtype)
        make(id(made), id(settings) if settings else 0, id(probe), probe.ctypes.data)
    return made[0] if made else None
