"""Matching of packs: nodes with the operands of all members in the same order."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.packing.sums import COMMUTING, SUM, Node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.packing.sums import Sums

    Pack = tuple[int, ...]

_PACKED = frozenset((SUM, "mul", "sq", "twice", "div", "inv", "sin", "cos"))


@dataclass(frozen=True, slots=True)
class Matched:
    """Nodes, packs of them, the pack of a node, and the nodes in packs as they match the first of their pack."""

    sums: Sums
    packs: tuple[Pack, ...]
    pack: dict[int, Pack]
    terms: dict[int, Node]

    def __str__(self) -> str:
        return f"{len(self.packs)} packs of {len(self.terms)} nodes"

    def operand(self, pack: Pack, place: int) -> Pack:
        """What the members of a pack have at one place."""
        return tuple([self.terms[index].args[place] for index in pack])


def matched(sums: Sums, numbers: Sequence[int], alike: Sequence[Pack]) -> Matched:
    """The packs of those alike that can be computed at once; `numbers` are equal for nodes that are alike."""
    packs = tuple(sorted(pack for pack in alike if sums.nodes[pack[0]].op in _PACKED))
    place = {index: pack for pack in packs for index in pack}
    terms = {
        index: _like(sums, numbers, place, pack[0], index, side) for pack in packs for side, index in enumerate(pack)
    }
    return Matched(sums, packs, place, terms)


def _like(sums: Sums, numbers: Sequence[int], place: dict[int, Pack], model: int, index: int, side: int) -> Node:
    """A node with its operands in the order of those of `model`."""
    first, own = sums.nodes[model], sums.nodes[index]
    if index == model or own.op not in COMMUTING:
        return own
    exact = {arg: at for at, arg in enumerate(own.args)}
    chosen = [exact.get(place[arg][side] if arg in place else arg, -1) for arg in first.args]
    chosen = [at if chosen.index(at) == k else -1 for k, at in enumerate(chosen)]
    left: defaultdict[int, list[int]] = defaultdict(list)
    for at in sorted(set(range(len(own.args))) - set(chosen), reverse=True):
        left[numbers[own.args[at]]].append(at)
    chosen = [left[numbers[arg]].pop() if at < 0 else at for at, arg in zip(chosen, first.args, strict=True)]
    return Node(own.op, tuple([own.args[at] for at in chosen]), tuple([own.minus[at] for at in chosen]), first.order)
