"""Sines and cosines that are taken together, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codegen.ir.graph import Graph

PAIR = ("sin", "cos")

EIGHT = 8
"""Arrays of angles come in rows of eight."""


@dataclass(frozen=True, slots=True)
class Block:
    """A run of sines and cosines, none of which needs another one of its run: the values, and the angles they are of.

    They make an array of sines and one of cosines, each of `length`; `places` says where a value is if the second array
    follows the first.
    """

    members: tuple[int, ...]
    angles: tuple[int, ...]
    length: int
    places: dict[int, int]

    def __str__(self) -> str:
        return f"{len(self.members)} sines and cosines of {len(self.angles)} angles"

    def together(self, unit: Sequence[int]) -> bool:
        """Whether these values stand side by side."""
        first = self.places[unit[0]]
        return [self.places[index] for index in unit] == list(range(first, first + len(unit)))


def blocks(graph: Graph) -> Iterator[Block]:
    """All of them, in order."""
    run: list[int] = []
    for index, value in enumerate(graph.values):
        if value.op in PAIR:
            if value.args[0] in run:
                yield _block(graph, run)
                run = []
            run.append(index)
        elif value.op not in (CONST, INPUT) and run:
            yield _block(graph, run)
            run = []
    if run:
        yield _block(graph, run)


def _block(graph: Graph, run: Sequence[int]) -> Block:
    values = graph.values
    angles = tuple(dict.fromkeys(values[index].args[0] for index in run))
    place = {angle: element for element, angle in enumerate(angles)}
    length = -(-len(angles) // EIGHT) * EIGHT
    start = {"sin": 0, "cos": length}
    return Block(tuple(run), angles, length, {i: start[values[i].op] + place[values[i].args[0]] for i in run})
