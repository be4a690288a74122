"""Arrays of other libraries as NumPy's: those that NumPy reads itself, and those that only speak `__dlpack__`."""

from __future__ import annotations

from typing import Any

import numpy as np

_ON_CPU = (1, 3, 11, 13)
"""DLPack's types of devices whose memory a CPU reads: its own, and what CUDA and ROCm pin or manage."""
_READ_BY_NUMPY = ("__array__", "__array_interface__", "__array_struct__")


def array_of(name: str, given: Any) -> Any:
    """`given` as NumPy takes it; what only speaks `__dlpack__` as an array of the same memory.

    TypeError, which calls it `name`, if its memory is not the CPU's or its numbers are none of NumPy's.
    """
    return shared(name, given) if only_dlpack(given) else given


def shared(name: str, given: Any) -> Any:
    """An array of the memory of what speaks `__dlpack__`; TypeError as of `array_of`."""
    try:
        device, number = given.__dlpack_device__()
        if device in _ON_CPU:
            return np.from_dlpack(given)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise TypeError(f"{name}: NumPy cannot take this {type(given).__name__} by __dlpack__ ({error})") from error
    raise TypeError(
        f"{name} lies on another device than the CPU (DLPack's type {int(device)}, number {number}); copy it to the CPU"
    )


def only_dlpack(given: Any) -> bool:
    """Whether this is an array that NumPy reads by `__dlpack__` alone."""
    if isinstance(given, np.ndarray) or not hasattr(given, "__dlpack__"):
        return False
    if any(hasattr(given, attribute) for attribute in _READ_BY_NUMPY):
        return False
    try:
        memoryview(given).release()
    except TypeError:
        return True
    return False
