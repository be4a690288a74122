"""The compiled functions of an extension, bound to what every call needs at hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from codegen.compilation.binding import function_of
from codegen.compilation.pickling import named_results
from codegen.errors import BuildError
from codegen.ir.graph import STATUS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codegen.emission.artifact import Artifact
    from codegen.ir.graph import Port

    Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Foreign:
    """The functions of one state and of a batch as cffi calls them, and what makes their pointers."""

    single: Callable[..., int | None]
    batch: Callable[..., None]
    view: Callable[..., Any]
    pointer: Any


@dataclass(frozen=True, slots=True)
class Binding:
    """The compiled functions, and what every call needs at hand.

    `kernel` takes the arrays of one state or (not in ABI mode) of a batch. It gives the status, of a batch 0, or -1
    where it cannot take them as they are. `hides`: the C's last result is a status, which callers do not see.
    """

    library: Any
    kernel: Callable[..., int]
    foreign: Foreign
    dtype: np.dtype[Any]
    given: int
    shapes: tuple[Shape, ...]
    results: tuple[Shape, ...]
    pack: Callable[..., Any] | None
    hides: bool


def bind(artifact: Artifact, extension: Path) -> Binding:
    """The functions of a compiled artifact, with no status shown; BuildError if the extension does not load."""
    try:
        ffi, library = _module(extension) if extension.name.startswith("_rigidc_") else _shared(artifact, extension)
        kernel = getattr(library, artifact.symbol)
        batch = getattr(library, f"{artifact.symbol}_aos")
    except (ImportError, OSError, AttributeError) as error:
        raise BuildError(
            f"{artifact.name}: the compiled extension does not load ({error}); `rigidc cache clear` removes it"
        ) from error
    shown = tuple(port for port in artifact.outputs if port != STATUS)
    real = "double" if artifact.dtype == "float64" else "float"
    foreign = Foreign(kernel, batch, ffi.from_buffer, ffi.typeof(f"{real}[]"))
    binding = Binding(
        library=library,
        kernel=function_of(artifact, library) or _looking(artifact, foreign),
        foreign=foreign,
        dtype=np.dtype(artifact.dtype),
        given=len(artifact.inputs),
        shapes=tuple(port.shape for port in artifact.inputs),
        results=(),
        pack=None,
        hides=False,
    )
    return showing(artifact, binding, shown)


def _looking(artifact: Artifact, foreign: Foreign) -> Callable[..., int]:
    """The kernel on arrays, by way of cffi: its status, or -1 if it cannot take them as they are."""
    kernel, view, pointer = foreign.single, foreign.view, foreign.pointer
    dtype, shapes = np.dtype(artifact.dtype), [port.shape for port in (*artifact.inputs, *artifact.outputs)]

    def call(*arrays: Any) -> int:
        pointers = []
        for array, shape in zip_longest(arrays, shapes):
            if type(array) is ndarray and array.dtype is dtype and array.shape == shape and array.flags.carray:
                pointers.append(view(pointer, array))
            else:
                return -1
        results = arrays[len(artifact.inputs) :]
        if any(np.may_share_memory(one, other) for k, one in enumerate(results) for other in results[:k]):
            return -1
        return kernel(*pointers) or 0

    return call


def showing(artifact: Artifact, bound: Binding, shown: tuple[Port, ...]) -> Binding:
    """The binding whose calls give these results."""
    names = tuple(port.name for port in shown)
    several = named_results(f"{artifact.symbol}_results", names) if len(names) > 1 else None
    hides = len(shown) < len(artifact.outputs)
    return replace(bound, results=tuple(port.shape for port in shown), pack=several, hides=hides)


def _module(extension: Path) -> tuple[Any, Any]:
    """A cffi extension module: its ffi and its functions."""
    name = extension.name.split(".")[0]
    loader = ExtensionFileLoader(name, str(extension))
    spec = spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(name)
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module.ffi, module.lib


def _shared(artifact: Artifact, extension: Path) -> tuple[Any, Any]:
    """A plain shared object, opened through its declarations."""
    import cffi

    ffi = cffi.FFI()
    ffi.cdef(artifact.declarations)
    return ffi, ffi.dlopen(str(extension))
