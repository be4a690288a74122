"""Bundling of unit forces in PV-OSIMr: beyond which joints that costs fewest operations.

Operations are estimated from sizes alone: what a column costs at every joint, what r unit forces cost the n freedoms of
a joint that they pass together, and that of everything a bundle's members do not know yet, each of them is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from casadi import DM

from codegen import costs
from codegen.recursions.tree import LoweredContact, Tree


@dataclass(frozen=True, slots=True)
class Stream:
    """Unit forces of a contact (or of the bundle at `node`, if not `contact`) and the joints that they pass.

    Of `size` forces, the first joint feels `felt`; `reading` is what it costs to read off a column of accelerations.
    """

    node: int
    size: int
    felt: int
    reading: int
    contact: bool
    path: tuple[int, ...]
    bundle: int

    @property
    def steps(self) -> int:
        """How many transforms are between the stream and its bundle."""
        return len(self.path) - self.contact

    @property
    def telling(self) -> int:
        """Operations to tell the stream one column of accelerations of its bundle: over the joints, or by forces."""
        return min(costs.over_joints(self.reading, self.steps), costs.ROW * self.size)

    @property
    def carried(self) -> int:
        """Operations to carry the stream to its bundle, and beyond the bundle's joint if its forces serve there."""
        beyond = self.bundle >= 0 and self.telling == costs.ROW * self.size
        each = costs.HINGE * self.steps + costs.PROJECTION * beyond - costs.FIRST * (self.steps > 1)
        return self.size * each


def worth_bundling(tree: Tree, stiff: bool = False) -> frozenset[int]:
    """The nodes beyond whose joint all streams are bundled; `stiff`: the contacts' stiffness is in the inertias."""
    places = [i for i in tree.support if tree.parent[i] >= 0 and tree.meeting(i) and not (stiff and _mixed(tree, i))]
    cost, best = min((_cost(tree, some), sorted(some)) for some in (frozenset[int](), frozenset(places)))
    while places:  # one place more or less, as long as that helps
        less, other = min((_cost(tree, some), sorted(some)) for some in (frozenset(best) ^ {i} for i in places))
        if less >= cost:
            break
        cost, best = less, other
    return frozenset(best)


def mixed(tree: Tree) -> frozenset[int]:
    """The nodes whose forces would mix what stiff contacts hold with what they leave free (see `worth_bundling`)."""
    return frozenset(i for i in tree.support if _mixed(tree, i))


def _mixed(tree: Tree, i: int) -> bool:
    """Whether a bundle at node i would have to tell soft directions from stiff ones, and lose digits to it.

    Not if its own contacts hold the node wholly, nor if joints between make up for all contacts further out.
    """
    own = [contact for contact in tree.contacts if contact.node == i and contact.on_body.square.is_constant()]
    squares = {c.body: sum(np.array(DM(other.on_body.square)) for other in own if other.body == c.body) for c in own}
    if sum(np.linalg.matrix_rank(square) for square in squares.values()) == tree.rows[i]:
        return False
    further = [contact for contact in tree.contacts if i in tree.path(contact.node)]
    inner = set(tree.path(tree.parent[i]))
    between = [sum(tree.S[j].size for j in tree.path(contact.node) if j not in inner) for contact in further]
    return any(n <= contact.size for n, contact in zip(between, further, strict=True))


def _streams(tree: Tree, bundled: frozenset[int]) -> list[Stream]:
    """All streams, if these nodes bundle theirs."""

    def until_bundled(carrier: int) -> tuple[tuple[int, ...], int]:
        path = tree.path(carrier)
        end = next((n for n, i in enumerate(path) if i in bundled), None)
        return (path, -1) if end is None else (path[: end + 1], path[end])

    contacts = [
        Stream(c.node, c.size, _felt(tree, c), costs.reading(c.force), True, *until_bundled(c.node))
        for c in tree.contacts
    ]
    bundles = [
        Stream(i, width(tree, i), width(tree, i), 0, False, *until_bundled(tree.parent[i])) for i in sorted(bundled)
    ]
    return contacts + bundles


def _felt(tree: Tree, contact: LoweredContact) -> int:
    """How many of a contact's unit forces its own joint feels."""
    y = tree.S[contact.node].T @ contact.force
    return sum(not y[:, column].is_zero() for column in range(contact.size))


def width(tree: Tree, i: int) -> int:
    """About how many independent forces joint i transmits."""
    return max(tree.rows[i] - tree.S[i].size, 1)


def _cost(tree: Tree, bundled: frozenset[int]) -> int:
    """Operations of the reduced recursion, if these nodes bundle."""
    streams = _streams(tree, bundled)
    passing = dict.fromkeys(tree.support, 0)
    for s in streams:
        for i in s.path:
            passing[i] += s.felt if i == s.path[0] else s.size
    couplings = sum(costs.couplings(tree.S[i].size, forces) for i, forces in passing.items())
    return sum(s.carried for s in streams) + couplings + sum(_telling(tree, streams, i) for i in bundled)


def _telling(tree: Tree, streams: Sequence[Stream], i: int) -> int:
    """Operations to tell the streams bundled at node i what they do not know yet: of others, and of one another."""
    others = [s for s in streams if s.bundle < i and i not in tree.path(s.node) and (s.contact or s.node > i)]
    total, news = 0, sum(s.size for s in others) + width(tree, i)
    for s in (s for s in streams if s.bundle == i):
        total += s.telling * news + s.telling * s.size // 2
        news += s.size
    return total
