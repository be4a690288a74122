"""Flattening of sums: a sum that only one other sum uses becomes part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codegen.ir.graph import NEW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Graph, Value
    from codegen.passes.rewriting import Draft

SUMS = ("add", "sub")


class Term(NamedTuple):
    """One term of a sum: its value, and whether it is subtracted."""

    place: int
    minus: bool


def inner_sums(graph: Graph) -> list[bool]:
    """By values: whether it is a sum inside a sum."""
    values, uses = graph.values, graph.uses()
    inner = [False] * len(values)
    for value in values:
        if value[0] in SUMS:
            for arg in value[1]:
                inner[arg] = uses[arg] == 1 and values[arg].op in SUMS
    return inner


def terms_of(values: Sequence[Value], inner: Sequence[bool], root: int) -> list[Term]:
    """The terms of a sum, in order."""
    terms, waiting = list[Term](), [(root, False)]
    while waiting:
        node, minus = waiting.pop()
        if node == root or inner[node]:
            value = values[node]
            left, right = value[1]
            waiting += ((right, minus != (value[0] == "sub")), (left, minus))
        else:
            terms.append(NEW(Term, (node, minus)))
    return terms


def added_up(draft: Draft, terms: Sequence[tuple[int, bool]]) -> int:
    """A chain of additions and subtractions, from the first term that is added; its negative if there is none."""
    start = next((n for n, (_, minus) in enumerate(terms) if not minus), -1)
    if start < 0:
        return draft.op("neg", added_up(draft, [(place, False) for place, _ in terms]))
    total = terms[start][0]
    for n, (place, minus) in enumerate(terms):
        if n != start:
            total = draft.op("sub" if minus else "add", total, place)
    return total
