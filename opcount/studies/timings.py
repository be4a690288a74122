"""Times of proximal constrained dynamics, three steps, beside Pinocchio's (constrained ABA 2024, Fig. 2, Table II).

Compiled C as emitted, and Pinocchio's C++, which has no `prox_ltls`, on the same states in one run. What the second and
third step take is shown apart, as in the figure. The paper's times stand beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from opcount.studies.compared import once
from opcount.studies.drawing import Bars
from opcount.studies.measured import PAPER, Case, Held, fingers, measure
from opcount.studies.study import Study
from opcount.studies.timed import OURS, PINOCCHIO, Timing, compiled, machine, rounded, run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Executor

    from opcount.studies.timed import Times

FEET = PAPER["atlas F6^2"].contacts
SOLO = tuple(f"{leg}_FOOT:3" for leg in ("FL", "HR", "FR", "HL"))
ROBOTS = {
    "iiwa H3": PAPER["iiwa H3"],
    "iiwa H6": PAPER["iiwa H6"],
    "solo12 F3^2": Held("solo12", SOLO[:2]),
    "solo12 F3^4": Held("solo12", SOLO),
    "talos F6^2": PAPER["talos F6^2"],
    "talos F6^2 H6^2": PAPER["talos F6^2 H6^2"],
    "atlas_shadow F6^2": Held("atlas_shadow", FEET),
    "atlas_shadow F6^2 T3^5": Held("atlas_shadow", (*FEET, *fingers("lh"))),
    "atlas_shadow F6^2 T3^10": Held("atlas_shadow", (*FEET, *fingers("lh", "rh"))),
}
ALGORITHMS = {"constrained_aba": "cABA", "prox_pv": "proxPV", "prox_ltls": "", "prox_ltl": "proxLTL"}
"""The algorithms, and Pinocchio's word for each."""

LONGEST = 100_000
"""Operations of one function: more take compilers longer than half a minute."""

RATIO, PAPERS = "times as fast", "paper (another machine)"

THEIRS: dict[str, tuple[float, float, float, float]] = {
    "iiwa H3": (0.97, 0.95, 0.99, 1.51),
    "iiwa H6": (1.02, 1.33, 1.0, 2.0),
    "solo12 F3^2": (1.81, 2.11, 2.06, 3.08),
    "solo12 F3^4": (2.25, 2.84, 2.27, 4.06),
    "talos F6^2": (5.02, 6.27, 7.14, 10.2),
    "talos F6^2 H6^2": (6.21, 8.84, 7.57, 14.5),
    "atlas_shadow F6^2": (7.90, 9.56, 13.4, 17.7),
    "atlas_shadow F6^2 T3^5": (9.95, 14.0, 14.7, 26.5),
    "atlas_shadow F6^2 T3^10": (11.7, 20.8, 15.0, 36.8),
}
"""Microseconds of Table II, on another machine; its fourth row says three feet, its seventh five fingertips."""


@dataclass(frozen=True, slots=True)
class Raced:
    """Robots with contacts by names, algorithms with Pinocchio's words; makes the table of times.

    Quick is the first robot alone.
    """

    robots: Mapping[str, Held]
    algorithms: Mapping[str, str] = field(default_factory=lambda: ALGORITHMS)

    def __call__(self, quick: bool = False, executor: Executor | None = None) -> Table:
        """One row per robot and algorithm: microseconds; `steps` are those of the second and third step."""
        robots = dict([*self.robots.items()][: 1 if quick else None])
        cases = (Case(held, algorithm, ("emitted",)) for held in robots.values() for algorithm in self.algorithms)
        counts = measure(cases, executor)
        short = {
            held: [name for name in self.algorithms if counts[held, name]["emitted"] <= LONGEST]
            for held in robots.values()
        }
        ours = {name: own(held, short[held]) for name, held in robots.items()}
        made = compiled([one for timings in ours.values() for one in timings.values()])
        rows: list[tuple[Cell, ...]] = []
        for name, held in robots.items():
            times, paper = run(ours[name], made, peers(held)), dict(zip(ALGORITHMS, THEIRS.get(name, ()), strict=False))
            rows += (_row(name, held, times, pair, paper.get(pair[0])) for pair in self.algorithms.items())
        steps = (f"{side}, steps" for side in (OURS, PINOCCHIO))
        return Table(("robot", "algorithm", OURS, PINOCCHIO, *steps, RATIO, PAPERS, "machine"), tuple(rows))


def own(held: Held, algorithms: Iterable[str]) -> dict[str, Timing]:
    """Our functions with one step and with all, by labels."""
    return {f"{one.steps} {name}": Timing(one, name) for one in (once(held), held) for name in algorithms}


def peers(held: Held) -> dict[str, Timing]:
    """What Pinocchio's functions do, with one step and with all, by labels."""
    return {str(one.steps): Timing(one, "constrained_aba") for one in (once(held), held)}


def _row(name: str, held: Held, times: Times, pair: tuple[str, str], paper: float | None) -> tuple[Cell, ...]:
    mine, theirs = (_pair(times, held.steps, label) for label in pair)
    ratio = theirs[0] / mine[0] if mine[0] and theirs[0] else None
    both = (rounded(mine[0]), rounded(theirs[0]), rounded(mine[1]), rounded(theirs[1]), rounded(ratio))
    return (name, pair[0], *both, paper, machine())


def _pair(times: Times, steps: int, label: str) -> tuple[float | None, float | None]:
    """The time of all steps, and what the steps after the first take."""
    whole, first = (times.get(f"{n} {label}") for n in (steps, 1))
    return whole, max(whole - first, 0.0) if whole and first else None


STUDY = Study(
    "times of proximal constrained dynamics, three steps, beside Pinocchio's C++",
    "constrained ABA 2024, Fig. 2, Table II",
    Raced(ROBOTS),
    Bars(
        "steps",
        "the second and third step",
        PAPERS,
        tiers=(OURS, PINOCCHIO),
        unit="microseconds",
        marked=1,
        ratio=RATIO,
        about="machine",
    ),
    "Times are of the machine that the last column names, the paper's of another one: compare ratios. Functions of "
    f"more than {LONGEST:,} operations are left out.",
)
