"""The patterns of sparse results as constants of a header: rows by compressed columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ir.names import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codegen.emission.emitted import Emitted
    from codegen.ir.pattern import Pattern

Array = tuple[str, int, list[str]]


def patterns(kernel: Emitted) -> Iterator[tuple[str, Pattern, tuple[Array, Array]]]:
    """Of every sparse result: what its macros begin with, its pattern, and the arrays."""
    for argument in kernel.arguments:
        found = argument.port.pattern
        if found:
            name = f"{kernel.symbol}_{argument.name}"
            arrays = _array(f"{name}_colind", found.indptr), _array(f"{name}_row", found.indices)
            yield f"{kernel.macro}_{argument.name.upper()}", found, arrays


def _array(name: str, numbers: Sequence[int]) -> Array:
    """An array of integers: its name, its length and the lines between the braces; C has none that is empty."""
    return name, max(len(numbers), 1), wrapped(", ".join(map(str, numbers or (0,))))
