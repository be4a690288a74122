"""Splitting of long functions where few values are live across the cut, since those go through memory."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CALL = 8
"""What a part costs beside the values that it leaves and takes."""

LONGEST = 2000
"""Statements per C function: compilers take less time for several of this length than for one, and their stack frames
stay so small that instructions are short, which large functions live on."""

IN_STEP = 320
"""The same where limbs go in step: frames then hold vectors, and short ones stay in the first-level cache."""

HUGE = 20_000
"""Statements beyond which parts are no longer than those: what a compiler takes grows faster than their length."""

TURNS = 32
"""So many states, in groups of lanes, take turns in every part of a function: its code is fetched once for all. Of
floats, of which a register holds twice as many, it is twice as many."""

_PLACES = 160
"""Among how many places a cut is chosen for every part of greatest length."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long C functions may be.

    They stay whole up to so many statements with so many different `numbers` among them; others come in parts of up to
    `part` statements, or `in_step` where limbs go in step and where there are very many. In parts `turns` states take
    turns. With more than `readable` statements the text is as short as it can be.
    """

    whole: int = LONGEST
    part: int = LONGEST
    in_step: int = IN_STEP
    numbers: float = math.inf
    turns: int = TURNS
    readable: int = HUGE

    def __str__(self) -> str:
        whole = f"up to {self.whole} statements"
        whole += "" if math.isinf(self.numbers) else f" and {self.numbers} numbers"
        parts = f"parts of {self.part} ({self.in_step} in step), {self.turns} turns"
        return f"functions of {whole}, {parts}{'' if self.readable else ', short'}"

    @property
    def of_limbs(self) -> Lengths:
        """Those of functions whose limbs go in step."""
        return replace(self, part=self.in_step)

    def parts(self, spans: Sequence[tuple[int, int, int]], length: int, numbers: int) -> list[int]:
        """The cuts of a function (see `cuts`); none if it stays whole."""
        stays = length <= self.whole and numbers <= self.numbers
        longest = self.part if length <= HUGE else min(self.part, self.in_step)
        return [] if stays else cuts(spans, length, longest)


SHORT = Lengths(whole=5000, part=320, numbers=72, turns=16)
"""Lengths for clang: it loads a number once per function and keeps it, on the stack in the end. Where there are many,
it wants short parts, and short parts want fewer states at a time. GCC is as fast with them, so they suit code that any
compiler may get."""


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
