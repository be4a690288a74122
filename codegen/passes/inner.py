"""Sums inside sums: additions and subtractions that nothing but one other sum uses belong to that one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codegen.graph import Graph

SUMS = ("add", "sub")


def inner_sums(graph: Graph) -> list[bool]:
    """By values: whether it is a sum inside a sum."""
    values, uses = graph.values, graph.uses()
    inner = [False] * len(values)
    for op, args, *_ in values:
        if op in SUMS:
            for arg in args:
                inner[arg] = uses[arg] == 1 and values[arg].op in SUMS
    return inner
