"""What a compiled library tells of itself, before anything else in it is called: its interface and its model."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from codegen.emission.emit import ABI
from codegen.errors import BuildError

if TYPE_CHECKING:
    import os

AGAIN = "generate and compile it again"


def checked(path: str | os.PathLike[str], prefix: str, digest: str) -> ctypes.CDLL:
    """A library that was made by this version of the interface, for the model with this digest.

    BuildError if it does not load here, does not say what it is, or is another one.
    """
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise BuildError(f"{path} does not load here ({error}); compile it for this machine") from None
    try:
        abi, model = getattr(library, f"{prefix}_abi"), getattr(library, f"{prefix}_model")
    except AttributeError:
        raise BuildError(f"{path} has no {prefix}_abi and {prefix}_model; {AGAIN}, with this prefix") from None
    model.restype = ctypes.c_char_p
    if abi() != ABI:
        raise BuildError(f"{path} has version {abi()} of the interface, and this rigidc calls version {ABI}; {AGAIN}")
    found = model().decode(errors="replace")
    if found != digest:
        raise BuildError(f"{path} was generated for another model ({found[:12]}, not {digest[:12]}); {AGAIN}")
    return library
