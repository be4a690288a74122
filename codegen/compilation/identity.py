"""What a compiled library tells of itself, before anything else in it is called: its interface and its model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.compilation.compiler import extensions
from codegen.emission.emit import ABI, EXTENSIONS
from codegen.errors import BuildError

if TYPE_CHECKING:
    import os

AGAIN = "generate and compile it again"


def checked(path: str | os.PathLike[str], prefix: str, digest: str, function: str = "") -> None:
    """See that a library was made by this version of the interface, for the model with this digest, with a function.

    BuildError if it does not load here, does not say what it is, is another one, or was compiled for a processor that
    this one is not. It is not kept open.
    """
    import cffi

    ffi, processor = cffi.FFI(), f"{prefix}_processor"
    ffi.cdef(f"int {prefix}_abi(void); const char *{prefix}_model(void); const char *{processor}(void);")
    ffi.cdef(f"void {function}(void);" if function else "")
    try:
        library = ffi.dlopen(str(path))
    except OSError as error:
        raise BuildError(f"{path} does not load here ({error}); compile it for this machine") from None
    try:
        abi, model = getattr(library, f"{prefix}_abi")(), ffi.string(getattr(library, f"{prefix}_model")()).decode()
        found = not function or hasattr(library, function)
        needed = ffi.string(getattr(library, processor)()).decode() if hasattr(library, processor) else ""
    except AttributeError:
        raise BuildError(f"{path} has no {prefix}_abi and {prefix}_model; {AGAIN}, with this prefix") from None
    finally:
        ffi.dlclose(library)
    if abi != ABI:
        raise BuildError(f"{path} has version {abi} of the interface, and this rigidc calls version {ABI}; {AGAIN}")
    if model != digest:
        raise BuildError(f"{path} was generated for another model ({model[:12]}, not {digest[:12]}); {AGAIN}")
    if not found:
        raise BuildError(
            f"{path} has no function {function}; generate its algorithm for this interface, and compile it"
        )
    if missing := set(needed.split()) - (extensions() or {*EXTENSIONS.values()}):
        raise BuildError(
            f"{path} was compiled for processors with {', '.join(sorted(missing))}, which this one has not; {AGAIN}"
        )
