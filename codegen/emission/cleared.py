"""Results of which all elements become zero at once, before any is stored: long matrices with many zeros.

Zeros that are stored a few at a time, wherever they are, reach into two lines of memory as often as not, and every line
of a matrix that is longer than the first cache is waited for. To clear the matrix takes one store for a line, in order,
which processors foresee. Of shorter matrices that is one store too many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codegen.ir.operations import CONST

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from codegen.ir.graph import Graph

LONG, SHARE = 6000, 0.5
"""The fewest elements, and the least part of them that is zero, for which that takes less time."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """The arrays that are cleared, with their sizes, and those of their elements that stay zero."""

    sizes: dict[str, int] = field(default_factory=dict)
    zeros: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{len(self.zeros)} zeros of {', '.join(self.sizes) or 'no array'}"


def cleared(graph: Graph, names: Sequence[str], unread: Collection[str] = ()) -> Cleared:
    """Those of a graph whose arguments have these names. Elements `unread` need not be stored at all."""
    zero = [value.op == CONST and value.constant == 0 for value in graph.values]
    sizes, found = dict[str, int](), set[str]()
    for name, result in zip(names[len(graph.inputs) :], graph.results, strict=True):
        zeros = {f"{name}[{k}]" for k, index in enumerate(result) if zero[index]} - {*unread}
        if len(result) >= LONG and len(zeros) >= SHARE * len(result):
            sizes[name] = len(result)
            found |= zeros
    return Cleared(sizes, frozenset(found))
