"""Isomorphic values of like limbs: computed alike, but for signs and constants.

A value belongs to a side if all it is made of belongs to that side or to none. Values get a number each, equal for
those that the same operation makes of equal numbers; what the limbs share counts by what it is, not by what it
stands for, since limbs see their base from different places. Where limbs differ, the number is that of all inputs
which the value depends on: values after it are found alike again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from codegen.ir.operations import CONST, INPUT
from codegen.packing.sums import COMMUTING, SUM

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from codegen.ir.graph import Graph
    from codegen.packing.sums import Node, Sums

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
    numbers = _Numbers(sums, _fixed(graph, sums, roles, sides), inputs)
    found, fresh = list[tuple[int, ...]](), set[int]()
    for _ in range(rounds):
        numbers.coarsen(fresh)
        found, left = _tuples(sums, numbers.of, sides, widths, numbers.coarse)
        fresh = _first(sums, left) - numbers.coarse
        if not fresh:
            break
    return numbers.of, found


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


def _fixed(graph: Graph, sums: Sums, roles: Roles, sides: Sequence[Side | None]) -> dict[int, Hashable]:
    """What values without arguments are alike by, and those where sides meet, which nothing is alike."""
    fixed: dict[int, Hashable] = {}
    for index, node in sums.nodes.items():
        if node.op == CONST:
            fixed[index] = node.op
        elif node.op == INPUT:
            value = graph.values[index]
            place = graph.inputs[value.port].name, value.element
            fixed[index] = node.op, *(roles[place][::2] if place in roles else place)
        elif sides[index] is None and any(sides[arg] is not None for arg in node.args):
            fixed[index] = index
    return fixed


class _Numbers:
    """The numbers `of` all values, equal for those that are alike, and what each number that is `known` stands for.

    Some are alike by what is `fixed`, others, `coarse`, by the inputs that they depend on.
    """

    def __init__(self, sums: Sums, fixed: Mapping[int, Hashable], inputs: Sequence[int]) -> None:
        self.nodes, self.fixed, self.inputs, self.coarse = sums.nodes, fixed, inputs, set[int]()
        self.known: dict[Hashable, int] = {}
        self.of = [0] * len(inputs)
        for index, node in self.nodes.items():
            key = fixed[index] if index in fixed else self._made(node)
            self.of[index] = self.known.setdefault(key, len(self.known))

    def __repr__(self) -> str:
        return f"<_Numbers: {len(self.known)} of {len(self.nodes)} values>"

    def coarsen(self, fresh: set[int]) -> None:
        """Further values are alike by inputs, and with them those that are made of them."""
        of, known, changed = self.of, self.known, set[int]()
        self.coarse |= fresh
        for index, node in self.nodes.items() if fresh else ():
            if index in self.fixed or (index not in self.coarse and changed.isdisjoint(node.args)):
                continue
            if index in self.coarse:
                key: Hashable = "unlike", node.op == SUM, self.inputs[index]
            else:
                key = self._made(node)
            number = known.setdefault(key, len(known))
            if number != of[index]:
                of[index] = number
                changed.add(index)

    def _made(self, node: Node) -> Hashable:
        """What a value is made of."""
        own = [self.of[arg] for arg in node.args]
        if node.op in COMMUTING:
            own.sort()
        return node.op, tuple(own)


def _tuples(
    sums: Sums, numbers: Sequence[int], sides: Sequence[Side | None], widths: Mapping[int, int], coarse: set[int]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """Tuples of values alike, and the values that are in none."""
    found: dict[int, defaultdict[int, list[int]]] = {group: defaultdict(list) for group in widths}
    for index, side in enumerate(sides):
        if side:
            found[side[0]][numbers[index]].append(index)
    limb = [side[1] if side else 0 for side in sides]
    uses = _uses(sums, numbers)
    tuples: list[tuple[int, ...]] = []
    left: list[int] = []
    for group, width in widths.items():
        for members in found[group].values():
            if members[0] in coarse:
                continue
            limbs: list[list[int]] = [[] for _ in range(width)]
            for index in members:
                limbs[limb[index]].append(index)
            if len(members) > width:
                limbs = _facing(limbs, uses)
            tuples += zip(*limbs, strict=False)
            if len(members) != width or not all(limbs):
                for own in limbs:
                    left += own[min(map(len, limbs)) :]
    return tuples, left


def _uses(sums: Sums, numbers: Sequence[int]) -> dict[int, list[int]]:
    """By values, the numbers of those that use them."""
    uses: dict[int, list[int]] = {index: [] for index in sums.nodes}
    for index, node in sums.nodes.items():
        for arg in node.args:
            uses[arg].append(numbers[index])
    return uses


def _facing(limbs: Sequence[Sequence[int]], uses: Mapping[int, list[int]]) -> list[list[int]]:
    """Values alike, by limbs: at each of the limb that has fewest, those of the others that are used most alike."""
    fewest, ordered = min(limbs, key=len), []
    own = {index: Counter(uses[index]) for members in limbs for index in members}
    for members in limbs:
        left, facing = list(members), list[int]()
        for index in fewest:
            facing.append(min(left, key=lambda other: _unlike(own[index], own[other])))
            left.remove(facing[-1])
        ordered.append(facing + left)
    return ordered


def _unlike(first: Counter[int], second: Counter[int]) -> int:
    """How many users of two values have no like."""
    return (first - second).total() + (second - first).total()


def _first(sums: Sums, left: Sequence[int]) -> set[int]:
    """Of values that have no like, those that use none of the others."""
    alone = set(left)
    return {index for index in alone if not any(arg in alone for arg in sums.nodes[index].args)}
