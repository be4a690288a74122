"""Zeros that results have for every input, in runs: batches neither transpose nor keep them, but store them at once.

A batch works on SIMD lanes of states, so that its results have to be transposed, square by square. The last square of a
span may reach into the zeros after it, which are stored later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.emission.spec import Kernel, LoopKernel, ProductKernel
from codegen.ir.graph import Value
from codegen.ir.operations import CONST
from codegen.ir.products import made_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.emission.functions import Argument
    from codegen.ir.products import AnyProduct

LEAST = 16
"""Zeros of the shortest run; there has to be room for one number of every lane."""

Span = tuple[int, int, int, int]
"""Where a span of elements begins, where its last square ends, and where the zeros after it begin and end."""


def spans(kernel: Kernel | LoopKernel | ProductKernel, lanes: int) -> dict[str, tuple[Span, ...]]:
    """By results with such runs: their spans, for so many lanes."""
    if not 1 < lanes <= LEAST or isinstance(kernel, LoopKernel):
        return {}
    found = {name: tuple(_spans(zero, lanes)) for name, zero in _zeros(kernel).items()}
    return {name: own for name, own in found.items() if any(first < end for *_, first, end in own)}


def stored_apart(
    kernel: Kernel | LoopKernel | ProductKernel, of: Mapping[str, Sequence[Span]], made: Sequence[Argument]
) -> frozenset[str]:
    """Elements in runs, of arrays `made` by straight-line code, that no lane has to hold."""
    left = unread_in_lanes(kernel, of)
    own = [(a.name, of[a.port.name]) for a in made if a.written and a.port.name in left]
    return frozenset(f"{name}[{k}]" for name, found in own for *_, first, end in found for k in range(first, end))


def unread_in_lanes(kernel: Kernel | LoopKernel | ProductKernel, of: Mapping[str, Sequence[Span]]) -> frozenset[str]:
    """The results among these that no loop reads, and of which none copies elements into their transposes' places."""
    if not isinstance(kernel, ProductKernel):
        return frozenset(of)
    read = {name for own in kernel.function.products for name in (*own.takes, *_mirrored(own))}
    read |= {gather.source for gather in kernel.function.gathers}
    read |= {name for own in kernel.function.maps for name in own.names}
    return frozenset(of) - read


def _mirrored(own: AnyProduct) -> tuple[str, ...]:
    """The name of a result if its elements are copied into their transposes' places."""
    return tuple(port.name for port in made_by(own)) if own.symmetric else ()


def _zeros(kernel: Kernel | ProductKernel) -> dict[str, NDArray[np.bool_]]:
    """By results: which of their elements are zero for every input."""
    if isinstance(kernel, ProductKernel):
        known, names = kernel.function.patterns(), {port.name for port in kernel.outputs}
        return {name: ~pattern.ravel() for name, pattern in known.items() if name in names}
    values, zero = kernel.graph.values, Value(CONST)
    results = zip(kernel.outputs, kernel.graph.results, strict=True)
    return {port.name: np.array([values[index] == zero for index in result], bool) for port, result in results}


def _spans(zero: NDArray[np.bool_], lanes: int) -> Iterator[Span]:
    """The spans of one result, to its end."""
    edges = np.flatnonzero(np.diff(zero, prepend=False, append=False))
    at = 0
    for first, end in edges.reshape(-1, 2).tolist():
        if end - first >= LEAST:
            yield at, at + -(-(first - at) // lanes) * lanes, first, end
            at = end
    if at < len(zero):
        yield at, len(zero), len(zero), len(zero)
