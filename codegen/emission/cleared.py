"""Results of which all elements become zero at once, before any is stored: long matrices with many zeros.

Zeros that are stored a few at a time, wherever they are, reach into two lines of memory as often as not, and every line
of a matrix that is longer than the first cache is waited for. To clear the matrix takes one store for a line, in order,
which processors foresee. Of shorter matrices that is one store too many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ir.operations import CONST

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from codegen.ir.graph import Graph

LONG, SHARE = 6000, 0.5
"""The fewest elements, and the least part of them that is zero, for which that takes less time."""


def cleared(graph: Graph, names: Sequence[str], unread: Collection[str] = ()) -> dict[str, list[int]]:
    """By the arrays that are cleared: the elements that stay zero. Elements `unread` need not be stored at all."""
    zero = [value.op == CONST and value.constant == 0 for value in graph.values]
    found = {}
    for name, result in zip(names[len(graph.inputs) :], graph.results, strict=True):
        zeros = [k for k, index in enumerate(result) if zero[index] and f"{name}[{k}]" not in unread]
        if len(result) >= LONG and len(zeros) >= SHARE * len(result):
            found[name] = zeros
    return found
