"""Counting for studies: robots with contacts by name, on all processors, and exponents of growth."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.progress import each
from codegen.robot import load
from opcount.count import counts, tiers_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codegen.robot import Robot
    from codegen.tracing.task import Tier


@dataclass(frozen=True, slots=True)
class Held:
    """A robot by name and its contacts as texts FRAME:ROWS (none: every tip, where an algorithm works on contacts).

    `points` are frames to add: name, carrier, offset.
    """

    robot: str
    contacts: tuple[str, ...]
    points: tuple[tuple[str, str, tuple[float, float, float]], ...] = ()

    def __str__(self) -> str:
        return f"{self.robot} holding {', '.join(self.contacts)}" if self.contacts else self.robot

    def model(self) -> Robot:
        """The robot with its added frames."""
        model = load(self.robot)
        for name, carrier, offset in self.points:
            model = model.with_frame(name, carrier, offset)
        return model

    @property
    def options(self) -> dict[str, Any]:
        """What is asked for when it is counted, beside the algorithm."""
        return {"contacts": self.contacts or None}


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


@cache
def operations(held: Held, algorithm: str) -> dict[Tier, int]:
    """Operations by tiers."""
    counted = counts(held.model(), algorithm, tiers_of(algorithm), **held.options)
    return {tier: count.total for tier, count in counted.items()}


def measure(work: Iterable[tuple[Held, str]]) -> dict[tuple[Held, str], dict[Tier, int]]:
    """Operations of many (robot with contacts, algorithm) pairs, on all processors."""
    pairs = list(dict.fromkeys(work))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(_one, pairs)
        return dict(zip(each(pairs, _words), found, strict=True))


def _words(pair: tuple[Held, str]) -> str:
    held, algorithm = pair
    return f"{algorithm} of {held.robot}, contacts: {len(held.contacts)}"


def _one(pair: tuple[Held, str]) -> dict[Tier, int]:
    return operations(*pair)


def exponent(sizes: Sequence[float], counts: Sequence[float]) -> float:
    """The slope of log(count) over log(size), by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(counts), 1)[0])
