"""A claim of a paper: what it says and where, what is compared with it, and how that is judged.

Judgements are computed from numbers and from the limits that the claim's record states.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from opcount.claims.quantities import Quantity

Verdict = Literal["holds", "holds in direction", "does not hold", "not decided here", "not counted"]
Open = Literal["", "not decided here", "not counted"]

TIME = "a time on one machine; operations do not decide it"


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim holds where our number is in [low, high], and in direction where it is in [least, most]."""

    low: float = -math.inf
    high: float = math.inf
    least: float = math.inf
    most: float = -math.inf

    def __str__(self) -> str:
        words = f"holds in [{self.low:g}, {self.high:g}]"
        return words if self.least > self.most else f"{words}, in direction in [{self.least:g}, {self.most:g}]"

    def verdict(self, number: float) -> Verdict:
        """The verdict on our number."""
        if self.low <= number <= self.high:
            return "holds"
        return "holds in direction" if self.least <= number <= self.most else "does not hold"


def about(number: float, within: float, toward: float) -> Judged:
    """Holds within so much of the paper's number, in direction from `toward` on, on the paper's side of it."""
    least, most = (toward, math.inf) if number > toward else (-math.inf, toward)
    return Judged(number - within, number + within, least, most)


def at_least(number: float, toward: float | None = None) -> Judged:
    """Holds from the number upwards, in direction from `toward` upwards, if that is given."""
    return Judged(number, math.inf) if toward is None else Judged(number, math.inf, toward, math.inf)


def at_most(number: float, toward: float | None = None) -> Judged:
    """Holds from the number downwards, in direction from `toward` downwards, if that is given."""
    return Judged(-math.inf, number) if toward is None else Judged(-math.inf, number, -math.inf, toward)


def exactly(number: float) -> Judged:
    """Holds at this number only."""
    return Judged(number, number)


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a paper.

    `id` is the paper's key, a dot and a name. `compared` says what `ours` is; `number` is the paper's value of it, None
    if it names none. A claim without `ours` is `open`, for its `reason`; of others this says why they do not hold.
    """

    id: str
    place: str
    quote: str
    compared: str
    number: float | None = None
    ours: Quantity | None = None
    judged: Judged = field(default_factory=Judged)
    reason: str = ""
    open: Open = ""

    def __str__(self) -> str:
        return f'{self.id} ({self.place}): "{self.quote}"'

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.id.partition(".")[0]

    def verdict(self, number: float | None) -> Verdict:
        """The verdict on our number at a tier, None where there is none."""
        if self.ours is None:
            return self.open or "not decided here"
        return "not decided here" if number is None else self.judged.verdict(number)


def timed(id: str, place: str, quote: str, number: float | None = None, study: str = "") -> Claim:
    """A claim about times, which is listed only, and the study that measures them, if there is one."""
    reason = f"{TIME}. The study {study} measures it." if study else TIME
    return Claim(id, place, quote, "time", number, reason=reason, open="not counted")


def undecided(id: str, place: str, quote: str, compared: str, reason: str, number: float | None = None) -> Claim:
    """A claim that is not decided here, and why."""
    return Claim(id, place, quote, compared, number, reason=reason, open="not decided here")
