"""Packs with other signs in some of their elements: what mirrored limbs hand to the trunk and take from it.

A graph has these as packs' values and negatives of others of them, gathered for an operation. As one vector of both
signs they are one instruction, where to take a value out, negate it and put it beside the others would be three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codegen.ir.graph import Graph

    Pack = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Flipped:
    """The values of a pack, some of them negated: `members` are these, or in their places their negatives."""

    pack: Pack
    members: Pack

    def __str__(self) -> str:
        return f"{self.members} of {self.pack}"

    @property
    def signs(self) -> str:
        """The pack's signs as C's zeros: those of negative zeros are flipped."""
        return ", ".join("0.0" if own == of else "-0.0" for own, of in zip(self.members, self.pack, strict=True))


def flipped(graph: Graph, packs: Iterable[Pack]) -> dict[Pack, Flipped]:
    """Operands of packs that are such vectors, by their members."""
    pack_of = {index: pack for pack in packs for index in pack}
    found: dict[Pack, Flipped] = {}
    for pack in dict.fromkeys(pack_of.values()):
        for members in zip(*(graph.values[index].args for index in pack), strict=True):
            own = tuple(_bare(graph, member) for member in members)
            if own != members and own == pack_of.get(own[0]) and {*own} & {*members}:
                found[members] = Flipped(own, members)
    return found


def _bare(graph: Graph, index: int) -> int:
    """What a value is the negative of, or itself."""
    value = graph.values[index]
    return value.args[0] if value.op == "neg" else index
