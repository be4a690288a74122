"""Where lanes keep the results of a batch: each value once, of however many elements, and no squares of zeros.

A batch works on SIMD lanes of states, so that its results have to be transposed: square by square, so many neighbouring
elements of as many states at a time. What lanes keep is longer than the first cache where results are matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.emission.spec import LoopKernel, ProductKernel
from codegen.ir.graph import Value
from codegen.ir.operations import CONST
from codegen.ir.products import made_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.emission.functions import Argument
    from codegen.emission.spec import Kernel
    from codegen.ir.graph import Port
    from codegen.ir.products import AnyProduct

EMPTY = -1
"""The place of elements in squares that are zero for every input."""


def places(kernel: Kernel | LoopKernel | ProductKernel, lanes: int) -> dict[str, tuple[int, ...]]:
    """By results: for each element, the one in whose place lanes keep it, or EMPTY."""
    found = {port.name: [*range(port.size)] for port in kernel.outputs}
    if lanes > 1 and not isinstance(kernel, LoopKernel):
        for name, zero in _zeros(kernel).items():
            squares = [*_empty(zero, lanes)]
            found[name] = [EMPTY if squares[k // lanes] else k for k in range(zero.size)]
        for port, result in _straight_line(kernel):
            first: dict[int, int] = {}
            pairs = zip(found[port.name], result, strict=True)
            found[port.name] = [k if k == EMPTY else first.setdefault(index, k) for k, index in pairs]
    return {name: tuple(own) for name, own in found.items()}


def stored_apart(
    kernel: Kernel | LoopKernel | ProductKernel, of: Mapping[str, Sequence[int]], made: Sequence[Argument]
) -> frozenset[str]:
    """Elements of arrays `made` by straight-line code that no lane has to hold."""
    left = unread_in_lanes(kernel)
    own = [(a.name, of[a.port.name]) for a in made if a.written and a.port.name in left]
    return frozenset(f"{name}[{k}]" for name, found in own for k, place in enumerate(found) if place != k)


def unread_in_lanes(kernel: Kernel | LoopKernel | ProductKernel) -> frozenset[str]:
    """The results that no loop reads, and of which none copies elements into their transposes' places."""
    results = frozenset(port.name for port in kernel.outputs)
    if not isinstance(kernel, ProductKernel):
        return results
    read = {name for own in kernel.function.products for name in (*own.takes, *_mirrored(own))}
    read |= {gather.source for gather in kernel.function.gathers}
    read |= {name for own in kernel.function.maps for name in own.names}
    return results - read


def _straight_line(kernel: Kernel | ProductKernel) -> Iterator[tuple[Port, Sequence[int]]]:
    """The results that straight-line code makes and no loop reads, with their values."""
    graph = kernel.function.graph if isinstance(kernel, ProductKernel) else kernel.graph
    left = unread_in_lanes(kernel)
    yield from (own for own in zip(graph.outputs, graph.results, strict=True) if own[0].name in left)


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


def _empty(zero: NDArray[np.bool_], lanes: int) -> Iterator[bool]:
    """Of every square of one result, the last of which may have fewer elements: it then overlaps the one before."""
    last, left = divmod(len(zero), lanes)
    both = bool(last) and bool(zero[(last - 1) * lanes :].all())
    for first in range(0, len(zero), lanes):
        yield both if left and first >= (last - 1) * lanes else bool(zero[first : first + lanes].all())
