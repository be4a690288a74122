"""Splitting of long functions where few values are live across the cut, since those go through memory."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CALL = 8
"""What a part costs beside the values that it leaves and takes."""

WHOLE = 2000
"""Statements up to which a C function stays whole. The code of longer ones does not fit into the first-level cache, nor
do their stack frames: functions of 2,000 to 5,000 statements take 5 to 25 % less time in parts."""

PART = 240
"""Statements of a part: frames of short ones stay in the first-level cache, and instructions that reach into a small
frame are short. Compilers take less time for several of them than for one."""

HUGE = 20_000
"""Statements beyond which the text is as short as it can be."""

HUGE_PARTS = 35_000, 640
"""Statements beyond which parts are longer, and how long: what goes through memory from part to part is text, too."""

TURNS = 16
"""So many states, in groups of lanes, take turns in every part of a function: its code is fetched once for all. Of
floats, of which a register holds twice as many, it is twice as many."""

_PLACES = 160
"""Among how many places a cut is chosen for every part of greatest length."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long C functions may be.

    They stay whole up to so many statements; others come in parts of up to `part` statements, longer ones where there
    are very many. In parts `turns` states take turns. With more than `readable` statements the text is as short as it
    can be.
    """

    whole: int = WHOLE
    part: int = PART
    turns: int = TURNS
    readable: int = HUGE

    def __str__(self) -> str:
        parts = f"parts of {self.part}, {self.turns} turns"
        return f"functions of up to {self.whole} statements, {parts}{'' if self.readable else ', short'}"

    def within(self, length: int) -> Lengths:
        """The same for functions that have so many statements together."""
        return replace(self, readable=0) if length > self.readable else self

    def parts(self, spans: Sequence[tuple[int, int, int]], length: int) -> list[int]:
        """The cuts of a function (see `cuts`); none if it stays whole."""
        huge, longer = HUGE_PARTS
        return [] if length <= self.whole else cuts(spans, length, max(self.part, longer if length > huge else 0))


def cuts(spans: Sequence[tuple[int, int, int]], length: int, longest: int) -> list[int]:
    """Cuts of `length` statements into parts of at most `longest`: how many statements come before each cut.

    `spans` are (made, used last, size) of what the statements make, by their numbers.
    """
    if length <= longest:
        return []
    kept = _kept(spans, length)
    step = max(1, longest // _PLACES)
    places = [0, *range(step, length, step), length]
    least, before = [0] * len(places), [0] * len(places)
    near: deque[int] = deque()  # where the part before a place may begin: further on, only at higher cost
    for k in range(1, len(places)):
        while near and least[near[-1]] > least[k - 1]:
            near.pop()
        near.append(k - 1)
        while places[k] - places[near[0]] > longest:
            near.popleft()
        least[k], before[k] = least[near[0]] + kept[places[k]] + CALL, near[0]
    found, k = [], before[-1]
    while k:
        found.append(places[k])
        k = before[k]
    return found[::-1]


def _kept(spans: Sequence[tuple[int, int, int]], length: int) -> list[int]:
    """By the number of statements before a cut: the size of what outlives it."""
    change = [0] * (length + 2)
    for made, last, size in spans:
        if last > made:
            change[made + 1] += size
            change[last + 1] -= size
    kept, now = [], 0
    for difference in change[: length + 1]:
        now += difference
        kept.append(now)
    return kept
