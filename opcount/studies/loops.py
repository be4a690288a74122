"""Operations with loops: exact, projected and approximate algorithms (Chignoli et al. 2023, Figs. 9, 10, 12).

Tables II to IV of the paper are times in percent of the exact algorithm's; these are operations, with the paper's
percents beside. The exact algorithms are C-RNEA, C-ABA and C-EFPA, here `rnea`, `aba` and `efpa`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from codegen.tracing.task import TIERS
from opcount.studies.drawing import Bars
from opcount.studies.measured import Held, measure
from opcount.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

FEET: dict[str, tuple[str, ...]] = {
    "chain12_geared": ("link-11:6",),
    "chain12_belt": ("link-B-5:6",),
    "mini_cheetah": tuple(f"{leg}_foot_contact:3" for leg in ("FL", "FR", "HL", "HR")),
    "mit_humanoid": ("left_ankle_link:6", "right_ankle_link:6"),
    "tello_humanoid": ("left-foot:6", "right-foot:6"),
    "jvrc1": ("left_ankle_p:6", "right_ankle_p:6"),
}
"""The robots, and what is held for the Delassus matrix."""

EXACT = {
    "rnea": ("approximate_rnea", "projected_rnea"),
    "aba": ("approximate_aba", "projection_fd", "lagrange_fd"),
    "efpa": ("approximate_efpa", "projected_osim"),
}
"""The exact algorithms, and those that the paper compares with each."""

TIMES: dict[str, tuple[float, ...]] = {
    "approximate_rnea": (-40.3, -36.2, -41.0, -42.0, -59.6, -37.7),
    "projected_rnea": (38.0, 37.8, 36.7, 35.9, 22.4, 36.6),
    "approximate_aba": (-34.1, -34.6, -35.3, -38.6, -49.4, -38.4),
    "projection_fd": (86.8, 73.5, 21.0, 32.5, 22.2, 87.3),
    "lagrange_fd": (133.1, 119.8, 76.3, 106.2, 82.7, 212.8),
    "approximate_efpa": (-35.7, -52.1, -28.6, -37.4, -51.4, -22.54),
    "projected_osim": (51.8, 6.3, 19.0, 23.2, 7.8, 107.4),
}
"""Percents of computation time that the paper states, by robot in the order of `FEET`."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Robots with loops and their contacts; makes the table of algorithms beside the exact ones. Quick is the first."""

    robots: Mapping[str, tuple[str, ...]]

    def __call__(self, quick: bool = False, executor: Executor | None = None) -> Table:
        """One row per robot and algorithm; percents say by how much it takes more than the exact one."""
        robots = dict([*self.robots.items()][: 1 if quick else None])
        algorithms = {other: exact for exact, others in EXACT.items() for other in (exact, *others)}

        def held(name: str, algorithm: str) -> Held:
            return Held(name, robots[name] if algorithms[algorithm] == "efpa" else ())

        found = measure(((held(name, algorithm), algorithm) for name in robots for algorithm in algorithms), executor)
        rows: list[tuple[Cell, ...]] = []
        for n, name in enumerate(robots):
            for algorithm, exact in algorithms.items():
                ours, those = found[held(name, algorithm), algorithm], found[held(name, exact), exact]
                more = (
                    round(100 * (ours[t] / those[t] - 1), 1) if t in ours and algorithm != exact else None
                    for t in TIERS
                )
                theirs = TIMES[algorithm][n] if algorithm in TIMES else None
                rows.append((name, algorithm, *(ours.get(tier) for tier in TIERS), *more, theirs))
        return Table(
            ("robot", "algorithm", *TIERS, *(f"{tier} %" for tier in TIERS), "the paper's time %"), tuple(rows)
        )


STUDY = Study(
    "exact, projected and approximate algorithms for robots with loops",
    "Chignoli et al. 2023, Tables II to IV, Figs. 9, 10, 12",
    Beside(FEET),
    Bars(columns=2),
    "Percents are of the exact algorithm (rnea, aba, efpa). For the Delassus matrix chains are held by their ends, "
    "robots by their feet. To the approximate algorithms Tello's differentials are gears, with the ratios that "
    "differentials have at the neutral configuration.",
)
