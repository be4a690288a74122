"""Times with loops: exact, projected and approximate algorithms (Chignoli et al. 2023, Tables II to IV).

Compiled C of the listings and of ours, all of one robot in one run, with percents of the exact algorithm's time and the
paper's, which are of C++ on another machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from opcount.studies.drawing import Bars
from opcount.studies.loops import EXACT, FEET, TIMES
from opcount.studies.measured import Held
from opcount.studies.study import Study
from opcount.studies.timed import Timing, compiled, machine, rounded, run

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from codegen.tracing.task import Tier
    from opcount.studies.timed import Compiled

SIDES: tuple[Tier, ...] = ("published", "emitted")
PAPERS = "the paper's time %"
EXACTS = {name: exact for exact, others in EXACT.items() for name in (exact, *others)}
"""The exact algorithm that each is compared with."""


@dataclass(frozen=True, slots=True)
class TimedBeside:
    """Robots with loops and their contacts; makes the table of times. Quick is the first."""

    robots: Mapping[str, tuple[str, ...]]

    def __call__(self, quick: bool = False, _executor: Executor | None = None) -> Table:
        """One row per robot and algorithm: microseconds, and by what percent it takes more than the exact one."""
        robots = dict([*self.robots.items()][: 1 if quick else None])
        ours = {name: own(name, contacts) for name, contacts in robots.items()}
        made = compiled([one for timings in ours.values() for one in timings.values()])
        rows = [row for name in robots for row in _rows(name, ours[name], made)]
        return Table(("robot", "algorithm", *SIDES, *(f"{side} %" for side in SIDES), PAPERS, "machine"), tuple(rows))


def own(robot: str, contacts: tuple[str, ...]) -> dict[str, Timing]:
    """The functions of a robot, by tiers and algorithms; contacts are for the Delassus matrix alone."""
    return {
        f"{side} {name}": Timing(Held(robot, contacts if exact == "efpa" else ()), name, side)
        for side in SIDES
        for name, exact in EXACTS.items()
    }


def _rows(robot: str, ours: Mapping[str, Timing], made: Mapping[Timing, Compiled]) -> list[tuple[Cell, ...]]:
    times, rows = run(ours, made, {}), list[tuple[Cell, ...]]()
    for name, exact in EXACTS.items():
        mine = [times[f"{side} {name}"] for side in SIDES]
        theirs = [times[f"{side} {exact}"] for side in SIDES]
        more = [round(100 * (a / b - 1), 1) if name != exact else None for a, b in zip(mine, theirs, strict=True)]
        paper = dict(zip(FEET, TIMES.get(name, ()), strict=False)).get(robot)
        rows.append((robot, name, *map(rounded, mine), *more, paper, machine(peer=False)))
    return rows


STUDY = Study(
    "times of exact, projected and approximate algorithms for robots with loops",
    "Chignoli et al. 2023, Tables II to IV, Figs. 9, 10, 12",
    TimedBeside(FEET),
    Bars(columns=2, unit="microseconds", about="machine"),
    "Percents are of the exact algorithm's time (rnea, aba, efpa); the paper's are of C++ on another machine.",
)
