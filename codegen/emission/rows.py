"""Results that are stored together, as small vectors: neighbours in an array that are there at nearly the same time.

A processor makes one store in a cycle, however wide. To bring two numbers together takes one instruction, four take
three, of which two go in a cycle. In code that waits for its own fetching, fewer bytes count, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.emission.layout import START
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from codegen.emission.layout import Layout
    from codegen.ir.graph import Graph

CYCLES = {1: 1.0, 2: 1.5, 4: 2.5}
"""What so many results take together."""

NUMBER = 0.2
"""What a number takes, of which eight are stored together anyway."""

WAIT = 60
"""Units that the first of them may have to wait for the last."""


@dataclass(frozen=True, slots=True)
class Row:
    """Values for neighbours in an array, the first of which is the element `start`."""

    array: str
    start: int
    values: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.array}[{self.start}] to [{self.start + len(self.values) - 1}]"

    @property
    def targets(self) -> tuple[str, ...]:
        """The elements of the array."""
        return tuple(f"{self.array}[{self.start + k}]" for k in range(len(self.values)))


def in_rows(
    graph: Graph,
    plan: Layout,
    names: Sequence[str],
    stored: Mapping[int, Sequence[int]],
    zeros: Collection[str] = (),
) -> dict[int, list[Row]]:
    """By the unit after which they are stored: the rows that take least together, each in one part of the function.

    `stored` are all results by units, `names` those of the arrays of arguments. Elements that are `zeros` are there.
    """
    units = [START, *(unit for units in plan.parts for unit in units)]
    part = [0, *(k for k, units in enumerate(plan.parts) for _ in units)]
    place = {unit: at for at, unit in enumerate(units)}
    due = {index: place[unit] for unit, results in stored.items() for index in results}
    found: dict[int, list[Row]] = {}

    def last(values: Sequence[int]) -> int:
        """When the last of some values is there, if they may go together; otherwise -1."""
        ops = [graph.values[index].op for index in values]
        times = [due[index] for index, op in zip(values, ops, strict=True) if op != CONST]
        if INPUT in ops or len(times) < 2 or part[min(times)] != part[max(times)]:
            return -1
        return max(times) if max(times) - min(times) <= WAIT else -1

    for name, result in zip(names[len(graph.inputs) :], graph.results, strict=True):
        ends = [
            {size: last(result[k + 1 - size : k + 1]) for size in (2, 4) if size <= k + 1} for k in range(len(result))
        ]
        alone = [
            0.0 if f"{name}[{k}]" in zeros else NUMBER if graph.values[index].op == CONST else CYCLES[1]
            for k, index in enumerate(result)
        ]
        for start, size in _least(alone, [[size for size, time in own.items() if time >= 0] for own in ends]):
            row = Row(name, start, tuple(result[start : start + size]))
            found.setdefault(units[ends[start + size - 1][size]], []).append(row)
    return found


def _least(alone: Sequence[float], sizes: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Start and size of rows that take least, of these sizes by their last elements, which take so much `alone`."""
    best, chosen = [0.0], [0]
    for end, (single, own) in enumerate(zip(alone, sizes, strict=True), 1):
        cost, size = min([(best[-1] + single, 1), *((best[end - size] + CYCLES[size], size) for size in own)])
        best.append(cost)
        chosen.append(size)
    end = len(alone)
    while end:
        size = chosen[end]
        end -= size
        if size > 1:
            yield end, size
