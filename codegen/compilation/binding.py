"""The C that makes a kernel a Python function of NumPy arrays, beside what cffi makes of it.

A call through it costs a fraction of what it takes to look at every array in Python and to wrap it for cffi.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.emission.text import render

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
        {"nd": len(port.shape), "size": port.size, "shape": ", ".join(map(str, port.shape)) or "0", "flags": flag}
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
    )
    return f"{declarations}size_t {symbol}_function(size_t array, size_t data);\n", source


def function_of(artifact: Artifact, library: Any) -> Callable[..., int] | None:
    """The kernel on arrays, if the library has it and arrays are as it expects.

    It takes inputs and outputs and gives the status, or -1 where there is anything that C cannot take as it is.
    """
    make = getattr(library, f"{artifact.symbol}_function", None)
    probe = np.zeros((3, 5), artifact.dtype)
    address = make(id(probe), probe.ctypes.data) if make else 0
    function: Callable[..., int] | None = ctypes.cast(address, ctypes.py_object).value if address else None
    return function
