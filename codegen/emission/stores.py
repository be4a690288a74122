"""When results are stored: each after the unit that makes it, and none while an input is left to read."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from codegen.emission.blocks import EIGHT
from codegen.emission.layout import START
from codegen.emission.splitting import HUGE
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from codegen.emission.layout import Layout
    from codegen.emission.spelling import Spelling
    from codegen.ir.graph import Graph

FAR = 8 * EIGHT
"""Neighbours that become a number together in very long functions, where more stores would be much of the text."""


def due(graph: Graph, plan: Layout) -> dict[int, list[int]]:
    """By the unit after which they are stored: results. None is stored while an input is left to read."""
    values, stored = graph.values, {plan.free: list[int]()}
    results = {index for result in graph.results for index in result}
    waiting = plan.free != START
    stored[plan.free] += [i for i in sorted(results - plan.copied) if values[i].op in (CONST, INPUT)]
    for unit in (unit for units in plan.parts for unit in units):
        own = [index for index in plan.unit[unit] if index in results]
        stored.setdefault(plan.free if waiting else unit, []).extend(own)
        waiting = waiting and unit != plan.free
    return stored


def spread(
    graph: Graph, plan: Layout, words: Spelling, apart: Collection[str]
) -> dict[int, list[tuple[int, list[str]]]]:
    """By the unit after which they are stored: results that are numbers, and neighbours that become them.

    They are spread over all units after which no input is left to read, eight neighbours at a time: a processor
    computes while it stores, but only so many stores may wait.
    """
    numbers = sorted({i for result in graph.results for i in result if graph.values[i].op == CONST})
    whole = (
        (index, list(own))
        for index in numbers
        for run in runs(words.targets[index])
        for _, own in groupby(run, apart.__contains__)
    )
    most = FAR if len(graph.values) > HUGE else EIGHT
    fills = [(index, run[k : k + most]) for index, run in whole for k in range(0, len(run), most)]
    units = [START, *(unit for units in plan.parts for unit in units)]
    units = units[units.index(plan.free) :]
    found: dict[int, list[tuple[int, list[str]]]] = {}
    for number, fill in enumerate(fills):
        found.setdefault(units[number * len(units) // len(fills)], []).append(fill)
    return found


def stored_alone(plan: Layout, words: Spelling, stored: Mapping[int, Sequence[int]]) -> frozenset[int]:
    """Single results that are stored, with no others, by the statement that makes them."""
    left = (unit for unit, results in stored.items() if list(results) == [unit] and unit not in plan.pack)
    return frozenset(unit for unit in left if words.targets[unit] and unit not in plan.at_home)


def runs(targets: Sequence[str]) -> list[list[str]]:
    """Elements of arrays, neighbours together."""
    found: list[list[str]] = []
    for target in targets:
        array, _, at = target.rstrip("]").partition("[")
        if found and found[-1][-1] == f"{array}[{int(at) - 1}]":
            found[-1].append(target)
        else:
            found.append([target])
    return found
