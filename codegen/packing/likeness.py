"""Isomorphic values of like limbs: computed alike, but for signs and constants.

A value belongs to a side if all it is made of belongs to that side or to none. Values get a number each, equal for
those that the same operation makes of equal numbers; what the limbs share counts by what it is, not by what it
stands for, since limbs see their base from different places. Where limbs differ, the number is that of all inputs
which the value depends on: values after it are found alike again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ir.operations import CONST, INPUT
from codegen.packing.sums import COMMUTING, SUM

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from codegen.ir.graph import Graph
    from codegen.packing.sums import Sums

    Side = tuple[int, int]
    Roles = Mapping[tuple[str, int], tuple[int, int, Hashable]]
    """By input elements: which group of limbs, which limb of it, and the element's role there."""


def alike(
    graph: Graph, sums: Sums, roles: Roles, widths: Mapping[int, int], rounds: int
) -> tuple[list[int], list[tuple[int, ...]]]:
    """A number for every value, and tuples of values that are alike, one of each side of a group of limbs.

    `widths` are the numbers of limbs by groups.
    """
    sides, inputs = _sides(graph, sums, roles)
    coarse: set[int] = set()
    numbers: list[int] = []
    found: list[tuple[int, ...]] = []
    for _ in range(rounds):
        numbers = _numbers(graph, sums, roles, sides, inputs, coarse)
        found, left = _tuples(sums, numbers, sides, widths, coarse)
        fresh = _first(sums, left) - coarse
        if not fresh:
            break
        coarse |= fresh
    return numbers, found


def _sides(graph: Graph, sums: Sums, roles: Roles) -> tuple[list[Side | None], list[int]]:
    """By values: the side that each belongs to, and the roles of the inputs that it depends on, as bits."""
    places: dict[Hashable, int] = {}
    sides: list[Side | None] = [None] * len(graph.values)
    inputs = [0] * len(graph.values)
    for index, node in sums.nodes.items():
        if node.op == INPUT:
            value = graph.values[index]
            name = graph.inputs[value.port].name
            role = roles.get((name, value.element))
            if role:
                sides[index] = role[:2]
            inputs[index] = 1 << places.setdefault(role[::2] if role else (name, value.element), len(places))
            continue
        found = {sides[arg] for arg in node.args} - {None}
        sides[index] = found.pop() if len(found) == 1 else None
        for arg in node.args:
            inputs[index] |= inputs[arg]
    return sides, inputs


def _numbers(
    graph: Graph,
    sums: Sums,
    roles: Roles,
    sides: Sequence[Side | None],
    inputs: Sequence[int],
    coarse: set[int],
) -> list[int]:
    """Equal for values that are alike."""
    numbers = [0] * len(graph.values)
    known: dict[Hashable, int] = {}
    for index, node in sums.nodes.items():
        op, args = node.op, node.args
        key: Hashable
        if op == CONST:
            key = op
        elif op == INPUT:
            value = graph.values[index]
            place = graph.inputs[value.port].name, value.element
            key = op, *(roles[place][::2] if place in roles else place)
        elif index in coarse:
            key = "unlike", op == SUM, inputs[index]
        elif sides[index] is None and any(sides[arg] is not None for arg in args):
            key = index  # where sides meet
        else:
            own = [numbers[arg] for arg in args]
            if op in COMMUTING:
                own.sort()
            key = op, tuple(own)
        numbers[index] = known.setdefault(key, len(known))
    return numbers


def _tuples(
    sums: Sums, numbers: Sequence[int], sides: Sequence[Side | None], widths: Mapping[int, int], coarse: set[int]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Tuples of values alike, and the values that are in none."""
    found: dict[tuple[int, int], list[int]] = {}
    for index in sums.nodes:
        side = sides[index]
        if side:
            found.setdefault((side[0], numbers[index]), []).append(index)
    tuples: list[tuple[int, ...]] = []
    left: list[int] = []
    for (group, _), members in found.items():
        if members[0] in coarse:
            continue
        if len(members) < widths[group]:
            left += members
            continue
        limbs: list[list[int]] = [[] for _ in range(widths[group])]
        for index in members:
            limbs[(sides[index] or (0, 0))[1]].append(index)
        tuples += zip(*limbs, strict=False)
        for limb in limbs:
            left += limb[min(map(len, limbs)) :]
    return tuples, left


def _first(sums: Sums, left: Sequence[int]) -> set[int]:
    """Of values that have no like, those that use none of the others."""
    alone = set(left)
    return {index for index in alone if not any(arg in alone for arg in sums.nodes[index].args)}
