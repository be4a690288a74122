"""How many operations a graph has, by class.

An operation is any value but an input or a constant. add: add, sub, neg; mul: mul, square, twice;
div: division, reciprocal; sqrt, sin and cos by themselves; everything else is other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.ir.operations import KINDS, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codegen.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class Count:
    """Operations by class."""

    add: int = 0
    mul: int = 0
    div: int = 0
    sqrt: int = 0
    sin: int = 0
    cos: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """All operations together."""
        return sum(getattr(self, kind) for kind in KINDS)

    def __str__(self) -> str:
        parts = ", ".join(f"{kind} {getattr(self, kind)}" for kind in KINDS if getattr(self, kind))
        return f"{self.total} operations" + (f" ({parts})" if parts else "")


def count(graph: Graph) -> Count:
    """The operations of a graph by class."""
    return _classed(Counter(value.op for value in graph.values))


def count_by_label(graph: Graph) -> dict[int, Count]:
    """The operations of a graph with labels, by label and class."""
    names: dict[int, Counter[str]] = {}
    for label, value in zip(graph.labels, graph.values, strict=True):
        if value.op in OPERATIONS:
            names.setdefault(label, Counter())[value.op] += 1
    return {label: _classed(own) for label, own in names.items()}


def added(counts: Iterable[Count]) -> Count:
    """Counts together."""
    every = list(counts)
    return Count(*(sum(getattr(one, kind) for one in every) for kind in KINDS))


def _classed(names: Counter[str]) -> Count:
    """Numbers of operations by name as a count."""
    kinds: Counter[str] = Counter()
    for name, number in names.items():
        if name in OPERATIONS:
            kinds[OPERATIONS[name].kind] += number
    return Count(**kinds)
