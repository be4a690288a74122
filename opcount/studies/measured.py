"""Counting for studies: robots with contacts by name, each count made once and kept, and exponents of growth."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.errors import UnsuitedError
from codegen.progress import each
from codegen.robot import load
from codegen.tracing.task import TIERS, Tier
from opcount.count import counts, tiers_of
from opcount.store import opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from codegen.ir.counting import Count
    from codegen.robot import Robot

Totals = dict[Tier, int]


@dataclass(frozen=True, slots=True)
class Held:
    """A robot by name and its contacts as texts FRAME:ROWS (none: every tip, where an algorithm works on contacts).

    `points` are frames to add: name, carrier, offset. `steps` are proximal ones.
    """

    robot: str
    contacts: tuple[str, ...]
    points: tuple[tuple[str, str, tuple[float, float, float]], ...] = ()
    steps: int = 3

    def __str__(self) -> str:
        return f"{self.robot} holding {', '.join(self.contacts)}" if self.contacts else self.robot

    def model(self) -> Robot:
        """The robot with its added frames, read once."""
        return _model(self.robot, self.points)

    @property
    def options(self) -> dict[str, Any]:
        """What is asked for when it is counted, beside the algorithm."""
        return {"contacts": self.contacts or None, "iterations": self.steps}


@cache
def _model(robot: str, points: tuple[tuple[str, str, tuple[float, float, float]], ...]) -> Robot:
    model = load(robot)
    for name, carrier, offset in points:
        model = model.with_frame(name, carrier, offset)
    return model


def corners(foot: str) -> tuple[tuple[str, str, tuple[float, float, float]], ...]:
    """Four corner points of a foot."""
    return tuple(
        (f"{foot}_{n}", foot, (x, y, -0.05))
        for n, (x, y) in enumerate(((0.1, 0.05), (0.1, -0.05), (-0.1, 0.05), (-0.1, -0.05)))
    )


PAPER: dict[str, Held] = {
    "iiwa H3": Held("iiwa", ("lbr_iiwa_link_7:3",)),
    "iiwa H6": Held("iiwa", ("lbr_iiwa_link_7:6",)),
    "go1 F3 x1": Held("go1", ("FL_foot:3",)),
    "go1 F3 x4": Held("go1", ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3")),
    "talos F6^2": Held("talos", ("left_sole_link:6", "right_sole_link:6")),
    "talos F6^2 H6^2": Held(
        "talos",
        ("left_sole_link:6", "right_sole_link:6", "wrist_left_ft_tool_link:6", "wrist_right_ft_tool_link:6"),
    ),
    "atlas F6^2": Held("atlas", ("l_foot:6", "r_foot:6")),
    "atlas F6^2 H6^2": Held("atlas", ("l_foot:6", "r_foot:6", "l_hand:6", "r_hand:6")),
    "atlas 4x3D per foot": Held(
        "atlas",
        tuple(f"{foot}_{n}:3" for foot in ("l_foot", "r_foot") for n in range(4)),
        (*corners("l_foot"), *corners("r_foot")),
    ),
}
"""The robots and contacts of the papers' tables."""


def fingers(*hands: str) -> tuple[str, ...]:
    """The fingertips of hands (`lh`, `rh`) of `atlas_shadow`, held by points."""
    return tuple(f"{hand}_{finger}tip:3" for hand in hands for finger in ("ff", "mf", "rf", "lf", "th"))


def chain(links: int) -> Held:
    """A chain whose axes are z and y by turns, its end held."""
    return Held(f"chain:{links},alternate", ("tip:6",))


def stem(links: int, branches: int) -> Held:
    """A stem of so many links with so many branches of seven links on either end, all tips held."""
    return Held(f"stem:{links},{branches}", tuple(f"tip{n}:6" for n in range(2 * branches)))


@dataclass(frozen=True, slots=True)
class Case:
    """What is counted at once: a robot with contacts, an algorithm, and tiers (by default all that it has)."""

    held: Held
    algorithm: str
    tiers: tuple[Tier, ...] = field(default=TIERS)

    def __str__(self) -> str:
        return f"{self.algorithm} of {self.held.robot}, contacts: {len(self.held.contacts)}"

    @property
    def wanted(self) -> tuple[Tier, ...]:
        """The tiers that the algorithm has."""
        return tuple(tier for tier in tiers_of(self.algorithm) if tier in self.tiers)

    @property
    def pair(self) -> tuple[Held, str]:
        """What its counts are found by."""
        return self.held, self.algorithm


Counts = dict[tuple[Held, str], Totals]
"""Operations by tiers of robots with contacts and algorithms; an algorithm that a robot does not admit has none."""


@cache
def operations(held: Held, algorithm: str) -> Totals:
    """Operations by tiers, counted here and now."""
    return {tier: count.total for tier, count in counted(Case(held, algorithm), tiers_of(algorithm)).items()}


def counted(case: Case, tiers: Sequence[Tier]) -> dict[Tier, Count]:
    """Operations by class of a case at these tiers."""
    return counts(case.held.model(), case.algorithm, tiers, **case.held.options)


def measure(work: Iterable[Case | tuple[Held, str]], executor: Executor | None = None) -> Counts:
    """Operations of cases, or of pairs at all tiers: from the store, and what is not there by an executor.

    By default that is a process for each processor. What has been counted stays in the store if the rest fails.
    """
    cases = list(dict.fromkeys(one if isinstance(one, Case) else Case(*one) for one in work))
    found, missing = Counts(), dict[Case, tuple[Tier, ...]]()
    store = opened()
    for case in cases:
        totals = found.setdefault(case.pair, {})
        for tier in case.wanted:
            kept = store.read(content(case, tier))
            for count in kept:
                _note(totals, tier, count)
            if not kept:
                missing[case] = (*missing.get(case, ()), tier)
    for case, counts_of in _swept(missing, executor):
        for tier, count in counts_of.items():
            store.write(content(case, tier), count)
            _note(found[case.pair], tier, count)
    return found


def _note(totals: Totals, tier: Tier, count: Count | None) -> None:
    if count is not None:
        totals[tier] = count.total


def _swept(
    missing: Mapping[Case, Sequence[Tier]], executor: Executor | None
) -> Iterator[tuple[Case, Mapping[Tier, Count | None]]]:
    """Cases with their counts, as they come."""
    if not missing:
        return
    with ProcessPoolExecutor(os.cpu_count()) if executor is None else nullcontext(executor) as pool:
        longest_first = sorted(missing, key=_size, reverse=True)  # else one process is left with a long one at the end
        futures = {pool.submit(_suited, case, missing[case]): case for case in longest_first}
        try:
            for _, future in zip(each([*futures.values()], str), as_completed(futures), strict=True):
                yield futures[future], future.result()
        finally:
            for future in futures:
                future.cancel()


def _size(case: Case) -> tuple[int, int]:
    """What a case's time grows with: degrees of freedom, and contacts."""
    return case.held.model().nv, len(case.held.contacts)


def _suited(case: Case, tiers: Sequence[Tier]) -> Mapping[Tier, Count | None]:
    """Operations of a case, None if the robot does not admit the algorithm."""
    try:
        return counted(case, tiers)
    except UnsuitedError:
        return dict.fromkeys(tiers)


def content(case: Case, tier: Tier) -> str:
    """All that the operations of a case at a tier depend on, but for the generator, as text."""
    return f"{digest(case.held)} {case.algorithm} {case.held.options!r} {tier}"


def digest(held: Held) -> str:
    """The digest of its robot, made once."""
    return _digest(replace(held, contacts=(), steps=1))


@cache
def _digest(robot: Held) -> str:
    return robot.model().digest


def fitted_sizes(known: int) -> int:
    """How many of so many sizes, from the largest on, an exponent is fitted to: those at which growth has settled."""
    return min(known, 3)


def slope(sizes: Sequence[float], counts: Sequence[float]) -> float:
    """Operations per unit of size, by least squares."""
    return float(np.polyfit(sizes, counts, 1)[0])


def exponent(sizes: Sequence[float], counts: Sequence[float]) -> float:
    """The slope of log(count) over log(size), by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(counts), 1)[0])
