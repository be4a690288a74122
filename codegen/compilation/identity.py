"""What a compiled library tells of itself, before anything else in it is called: its interface and its model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.emission.emit import ABI
from codegen.errors import BuildError

if TYPE_CHECKING:
    import os

AGAIN = "generate and compile it again"


def checked(path: str | os.PathLike[str], prefix: str, digest: str, function: str = "") -> None:
    """See that a library was made by this version of the interface, for the model with this digest, with a function.

    BuildError if it does not load here, does not say what it is, or is another one. It is not kept open.
    """
    import cffi

    ffi, declared = cffi.FFI(), f"int {prefix}_abi(void); const char *{prefix}_model(void);"
    ffi.cdef(declared + (f" void {function}(void);" if function else ""))
    try:
        library = ffi.dlopen(str(path))
    except OSError as error:
        raise BuildError(f"{path} does not load here ({error}); compile it for this machine") from None
    try:
        abi, model = getattr(library, f"{prefix}_abi")(), ffi.string(getattr(library, f"{prefix}_model")()).decode()
        found = not function or hasattr(library, function)
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
