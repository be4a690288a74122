"""Times of damped inverses of the Delassus matrix beside Pinocchio's (constrained ABA 2024, Table III).

`caba_osim` as compiled C, and what Pinocchio has: by PV (the paper's cABA-OSIM became this), by EFPA, and by the
factors of the KKT matrix (LTL), the inverse made of them or not. `caba_osimf` gives the inverse times a vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from opcount.studies.drawing import Bars
from opcount.studies.measured import Held
from opcount.studies.study import Study
from opcount.studies.timed import OURS, PINOCCHIO, Timing, compiled, machine, rounded, run
from opcount.studies.timings import PAPERS, ROBOTS

if TYPE_CHECKING:
    from concurrent.futures import Executor

EXACT, APPLIED = "caba_osim", "caba_osimf"
FACTORS, RATIO = "damped_factors", "times as long"
WAYS = {"PV": "cABA", "EFPA": "", "LTL": "LTL-inv", "LTL, factors alone": "LTL-chol"}
"""Pinocchio's words, and those of the paper's table."""

THEIRS: dict[str, dict[str, float]] = {
    name: dict(zip(("cABA-f", "cABA", "LTL-chol", "LTL-inv"), times, strict=True))
    for name, times in {
        "iiwa H3": (0.7, 0.70, 0.53, 0.63),
        "iiwa H6": (0.77, 0.77, 0.63, 0.81),
        "solo12 F3^2": (1.57, 1.68, 1.38, 1.57),
        "solo12 F3^4": (1.94, 2.28, 1.86, 2.48),
        "talos F6^2": (4.05, 4.21, 5.73, 6.42),
        "talos F6^2 H6^2": (4.57, 4.95, 8.42, 10.9),
        "atlas_shadow F6^2": (6.37, 6.5, 11.4, 12.1),
        "atlas_shadow F6^2 T3^5": (8.8, 9.3, 17.8, 21.2),
        "atlas_shadow F6^2 T3^10": (12.6, 13.3, 26.2, 35.9),
    }.items()
}
"""Microseconds of Table III, on another machine; its last row says two feet, which the seventh has."""


@dataclass(frozen=True, slots=True)
class Inverted:
    """Robots with contacts by names; makes the table of times. Quick is the first robot alone."""

    robots: Mapping[str, Held]

    def __call__(self, quick: bool = False, _executor: Executor | None = None) -> Table:
        """One row per robot and way: microseconds, and how many times as long as our `caba_osim` it takes."""
        robots = dict([*self.robots.items()][: 1 if quick else None])
        ours = {name: {way: Timing(held, way) for way in (EXACT, APPLIED)} for name, held in robots.items()}
        made = compiled([one for timings in ours.values() for one in timings.values()])
        rows: list[tuple[Cell, ...]] = []
        for name in robots:
            times = run(ours[name], made, {"": ours[name][EXACT]}, (FACTORS,))
            known = [(OURS, EXACT, "cABA", EXACT), (OURS, APPLIED, "cABA-f", APPLIED)]
            known += [(PINOCCHIO, f"{PINOCCHIO}, {way}", word, f" {way}") for way, word in WAYS.items()]
            for side, way, word, label in known:
                time = times.get(label)
                sides = (rounded(time) if side == one else None for one in (OURS, PINOCCHIO))
                ratio = rounded(time / times[EXACT]) if time else None
                rows.append((name, way, *sides, ratio, THEIRS[name].get(word), machine()))
        return Table(("robot", "algorithm", OURS, PINOCCHIO, RATIO, PAPERS, "machine"), tuple(rows))


STUDY = Study(
    "times of damped inverses of the Delassus matrix, beside Pinocchio's C++",
    "constrained ABA 2024, Table III",
    Inverted(ROBOTS),
    Bars("", "", PAPERS, tiers=(OURS, PINOCCHIO), unit="microseconds", marked=1, ratio=RATIO, about="machine"),
    "caba_osimf gives the inverse times a vector. Times are of the machine that the last column names.",
)
