"""Which function and which place in memory every value of a graph gets.

A unit is a value, or the members of a pack, which are made at once. Units are made in parts, one C function each.
Values that outlive their part travel through a workspace, whose slots are used again once their value has been read
for the last time.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from codegen.emission.blocks import Block, blocks
from codegen.ir.operations import CONST, INPUT
from codegen.languages.language import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.emission.splitting import Lengths
    from codegen.ir.graph import Graph

    Pack = tuple[int, ...]

_LEAF = (CONST, INPUT)

START = -1
"""The unit before all others."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Packs by their members, blocks of sines and cosines by their first value, and where values are made and kept.

    `unit` is by values what is made together with each.
    `parts` hold units by their first values, in order, `free` the unit after which no input is left to read (-1: none
    is read): if inputs are `copied` first, the last of these. `slots` are places of units in the workspace, of
    `workspace` reals, `homes` those of blocks of which a later part uses something: units `at_home` are read out of
    their arrays anywhere.
    """

    pack: dict[int, Pack]
    unit: tuple[Pack, ...]
    blocks: dict[int, Block]
    parts: tuple[tuple[int, ...], ...]
    copied: frozenset[int]
    free: int
    slots: dict[int, int]
    homes: dict[int, int]
    at_home: frozenset[int]
    workspace: int

    def __str__(self) -> str:
        return f"{sum(map(len, self.parts))} units in {len(self.parts)} parts, workspace {self.workspace}"


def layout(graph: Graph, packs: Sequence[Pack], own_angles: bool, lengths: Lengths, *, in_place: bool = True) -> Layout:
    """The layout in functions of such lengths; the members of each pack stand together in the graph.

    Unless results may be `in_place` of inputs, none waits until inputs are read.
    """
    block = {block.members[0]: block for block in blocks(graph)} if own_angles else {}
    pack = {index: own for own in packs if _at_once(graph, own, block) for index in own}
    unit_of = tuple([pack.get(index, (index,)) for index in range(len(graph.values))])
    units = _units(graph, unit_of)
    copied = _copied(graph, units) if in_place else []
    units = [*((index,) for index in copied), *units]
    part = _parts(graph, units, block, lengths)
    made = sorted(units, key=lambda unit: part[unit[0]])
    free = copied[-1] if copied else _last_reading(graph, made) if in_place else START
    last = _last(graph, units, part, free)
    homes, at_home, length = _homes(block, pack, part, last)
    slots, workspace = _slots(graph, [unit for unit in made if unit[0] not in at_home], part, last, unit_of, length)
    parts: list[list[int]] = [[] for _ in range(max(part, default=0) + 1)]
    for unit in made:
        parts[part[unit[0]]].append(unit[0])
    kept = tuple(map(tuple, parts))
    return Layout(pack, unit_of, block, kept, frozenset(copied), free, slots, homes, frozenset(at_home), workspace)


def _at_once(graph: Graph, pack: Pack, blocks: dict[int, Block]) -> bool:
    """Whether C makes a pack at once: by an operator, or as angles of one block."""
    return graph.values[pack[0]].op in OPERATORS or any(set(pack) <= set(block.members) for block in blocks.values())


def _units(graph: Graph, unit_of: Sequence[Pack]) -> list[Pack]:
    """The units in order: packs, and the values that are in none and have to be computed."""
    return [
        unit
        for i, (v, unit) in enumerate(zip(graph.values, unit_of, strict=True))
        if v.op not in _LEAF and i == unit[0]
    ]


def _copied(graph: Graph, units: Sequence[Pack]) -> list[int]:
    """The inputs, if they are fewer than the results that would have to wait until the last of them is read."""
    last, results = _last_reading(graph, units), {index for result in graph.results for index in result}
    before = takewhile(lambda unit: unit[0] != last, units)
    waiting = sum(index in results for unit in before for index in unit)
    pairs = enumerate(zip(graph.values, graph.uses(), strict=True))
    inputs = [index for index, (value, uses) in pairs if uses and value.op == INPUT]
    return inputs if last != START and waiting > len(inputs) else []


def _last_reading(graph: Graph, made: Sequence[Pack]) -> int:
    """The last unit that reads an input, by its first value; -1 if none does."""
    values = graph.values
    reading = (
        unit[0] for unit in reversed(made) if any(values[arg].op == INPUT for i in unit for arg in values[i].args)
    )
    return next(reading, START)


def _parts(graph: Graph, units: Sequence[Pack], blocks: dict[int, Block], lengths: Lengths) -> list[int]:
    """By values: the part in which each is made; leaves are at hand in the first part that could use them.

    Sines and cosines do not count where functions are cut: they are in memory anyway.
    """
    number = {index: k for k, unit in enumerate(units) for index in unit}
    last = list(range(len(units)))
    for k, unit in enumerate(units):
        for index in unit:
            for arg in graph.values[index].args:
                if arg in number:
                    last[number[arg]] = k
    angles = {index for block in blocks.values() for index in block.members}
    spans = [(k, last[k], len(unit)) for k, unit in enumerate(units) if unit[0] not in angles]
    starts = lengths.parts(spans, len(units))
    part, at = [], 0
    for index in range(len(graph.values)):
        at = number.get(index, at)
        part.append(bisect_right(starts, at))
    for block in blocks.values():
        for index in block.members:
            part[index] = part[block.members[0]]
    return part


def _last(graph: Graph, units: Sequence[Pack], part: Sequence[int], free: int) -> list[int]:
    """By values: the part in which each unit is used last; results wait for their storing until inputs are read."""
    last = list(part)
    for own, value in zip(part, graph.values, strict=True):
        for arg in value.args:
            if last[arg] < own:
                last[arg] = own
    for result in graph.results if free != START else ():
        for index in result:
            last[index] = max(last[index], part[free])
    for unit in units:
        if len(unit) > 1:
            latest = max(last[index] for index in unit)
            for index in unit:
                last[index] = latest
    return last


def _homes(
    blocks: dict[int, Block], pack: dict[int, Pack], part: Sequence[int], last: Sequence[int]
) -> tuple[dict[int, int], set[int], int]:
    """Where blocks begin of which a later part uses something, their units by first values, and their length."""
    homes: dict[int, int] = {}
    at_home: set[int] = set()
    length = 0
    for first, block in blocks.items():
        if any(last[index] > part[index] for index in block.members):
            homes[first] = length
            length += 2 * block.length
            units = [pack.get(index, (index,)) for index in block.members]
            at_home.update(unit[0] for unit in units if block.together(unit))
    return homes, at_home, length


def _slots(
    graph: Graph, made: Sequence[Pack], part: Sequence[int], last: Sequence[int], unit_of: Sequence[Pack], length: int
) -> tuple[dict[int, int], int]:
    """A slot for every unit that a later part uses, by its first value; how many reals they take after `length` others.

    A slot is free once its unit has been fetched in the last part that uses it, at the latest after that part.
    """
    free: dict[int, list[int]] = {}
    leaving: dict[int, list[Pack]] = {}
    slots: dict[int, int] = {}
    kept: set[int] = set()
    now = -1

    def leave(unit: Pack) -> None:
        if unit[0] in kept:
            kept.remove(unit[0])
            free.setdefault(len(unit), []).append(slots[unit[0]])

    for unit in made:
        first, size = unit[0], len(unit)
        while now < part[first]:
            now += 1
            for gone in leaving.pop(now, ()):
                leave(gone)
        for arg in [arg for index in unit for arg in graph.values[index].args if part[arg] < now and last[arg] == now]:
            leave(unit_of[arg])
        if last[first] > now:
            if not free.get(size):
                free[size] = [length]
                length += size
            slots[first] = free[size].pop()
            kept.add(first)
            leaving.setdefault(last[first] + 1, []).append(unit)
    return slots, length
