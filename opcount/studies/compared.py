"""Studies of robots: operations of algorithms in all tiers, one row per robot and algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from codegen.tracing.task import TIERS, Tier
from opcount.studies.measured import Case, Held, measure

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from opcount.studies.measured import Counts

AUTHORS = "authors' program"
STEPPED: tuple[Tier, ...] = ("published",)
HEADER = ("robot", "algorithm", *TIERS, "percent")


@dataclass(frozen=True, slots=True)
class Compared:
    """Robots with contacts by names, and algorithms; makes the table of their operations.

    `percent` is emitted of published. `authors` has the operations of the authors' programs by robot and algorithm.
    With `steps`, a column says how many operations the steps after the first take as published. Quick is the first
    robot alone.
    """

    robots: Mapping[str, Held]
    algorithms: tuple[str, ...]
    authors: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    steps: bool = False

    def __call__(self, quick: bool = False, executor: Executor | None = None) -> Table:
        """One row per robot and algorithm."""
        robots = dict([*self.robots.items()][: 1 if quick else None])
        cases = [Case(held, algorithm) for held in robots.values() for algorithm in self.algorithms]
        if self.steps:
            cases += [Case(once(held), name, STEPPED) for held in robots.values() for name in self.algorithms]
        found = measure(cases, executor)
        rows = [self._row(name, algorithm, found) for name in robots for algorithm in self.algorithms]
        steps = tuple(f"{tier}, steps" for tier in STEPPED) if self.steps else ()
        return Table((*HEADER, *steps, *[AUTHORS] * bool(self.authors)), tuple(rows))

    def _row(self, name: str, algorithm: str, found: Counts) -> tuple[Cell, ...]:
        held = self.robots[name]
        ours = found[held, algorithm]
        row: tuple[Cell, ...] = (name, algorithm, *(ours.get(tier) for tier in TIERS), percent(ours))
        if self.steps:
            first = found[once(held), algorithm]
            row += tuple(ours[tier] - first[tier] if tier in first else None for tier in STEPPED)
        return (*row, *[self.authors.get(name, {}).get(algorithm)] * bool(self.authors))


def once(held: Held) -> Held:
    """The same robot and contacts with one proximal step."""
    return replace(held, steps=1)


def percent(ours: Mapping[Tier, int]) -> int | None:
    """The operations emitted, in percent of those published."""
    return round(100 * ours["emitted"] / ours["published"]) if {"emitted", "published"} <= {*ours} else None
