"""Superword-level parallelism over limbs of one shape: each of their operations is one instruction for all of them.

A robot's left and right limbs are the same mechanism with other numbers, most of them equal but for their signs. What
a graph does for each is found to be alike (`likeness`), operands are brought into one order (`matching`), signs are
made to agree (`negatives`), and the graph is written anew (`aligned`) in an order (`packed`) in which C can do packs of
values in SIMD registers. Nothing here knows robots: which inputs play the same role is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ir.counting import count
from codegen.ir.graph import verify
from codegen.packing.aligned import CircleError, aligned
from codegen.packing.likeness import alike
from codegen.packing.matching import matched
from codegen.packing.packed import Packed, arranged
from codegen.packing.sums import sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Graph
    from codegen.packing.likeness import Roles
    from codegen.packing.sums import Sums

__all__ = ["Packed", "Roles", "pack"]

WORTH = 0.9

LONG = 60_000
"""Operations above which limbs do not go in step: C has these functions in both ways, and would be more than 2 MB."""

_ROUNDS = (6, 1)  # with one, nothing is alike after something that is not, and nothing can go round in a circle


def pack(graph: Graph, ways: Sequence[Roles], worth: float = WORTH, beside: int = 0) -> Packed | None:
    """The graph with the values of like limbs in packs, in the best of some ways; None where that is not worth it.

    Nor is it in graphs that are `LONG` with as many operations as are `beside` them.

    Each way says of an input element (port name, place) which group of limbs it belongs to, which limb, and what it is
    to that limb; groups and limbs are numbered from 0, and what has the same role is alike. `worth` is the part of the
    operations that packing must leave at most.
    """
    operations, some = count(graph).total, [roles for roles in ways if roles]
    if not some or operations + beside > LONG:
        return None
    flat = sums(graph)
    made = [packed for packed in (_packed(graph, flat, roles) for roles in some) if packed]
    best = min(made, key=lambda packed: packed.steps, default=None)
    return best if best and best.steps <= worth * operations else None


def _packed(graph: Graph, flat: Sums, roles: Roles) -> Packed | None:
    """Packed in one way, if that can be."""
    widths: dict[int, int] = {}
    for group, limb, _ in roles.values():
        widths[group] = max(widths.get(group, 0), limb + 1)
    for rounds in _ROUNDS:
        numbers, found = alike(graph, flat, roles, widths, rounds)
        try:
            made, packs = aligned(graph, matched(flat, numbers, found))
        except CircleError:
            continue
        return arranged(verify(made), packs)
    return None
