"""Where the Delassus algorithms change places: a chain of 24 links, more and more of its last links held.

No paper shows this. Where links are held by one row each PV-OSIM is the cheapest listing while few are held; by three
rows and six it is PV-OSIMr until almost all are held, and then EFPA.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from codegen.tracing.task import TIERS, Tier
from opcount.studies.drawing import Growth
from opcount.studies.measured import Case, Held, measure
from opcount.studies.study import Study

if TYPE_CHECKING:
    from concurrent.futures import Executor

LINKS = 24
ROWS = (1, 3, 6)
NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16, 24)
OURS = 8
ALGORITHMS = ("ltl_osim", "efpa", "pv_osim", "pv_osimr")


def held(number: int, rows: int) -> Held:
    """The chain with so many of its last links held by so many rows each (one: the height of its origin)."""
    text = "z" if rows == 1 else str(rows)
    return Held(f"chain:{LINKS},alternate", tuple(f"link{i}:{text}" for i in range(LINKS - number, LINKS)))


@dataclass(frozen=True, slots=True)
class Crossed:
    """Numbers of links held; makes the table of operations with the cheapest algorithm marked. Quick is one link."""

    numbers: tuple[int, ...]

    def __call__(self, quick: bool = False, executor: Executor | None = None) -> Table:
        """One row per rows of a contact, algorithm and number of links held."""
        numbers = self.numbers[: 1 if quick else None]
        tiers: Mapping[int, tuple[Tier, ...]] = {n: TIERS if n <= OURS else ("published",) for n in numbers}
        work = [(rows, name, number) for rows in ROWS for name in ALGORITHMS for number in numbers]
        found = measure((Case(held(number, rows), name, tiers[number]) for rows, name, number in work), executor)
        table: list[tuple[Cell, ...]] = []
        for rows, name, number in work:
            totals = {other: found[held(number, rows), other] for other in ALGORITHMS}
            least = {tier: min(totals, key=lambda other: totals[other][tier]) for tier in tiers[number]}
            counts = (totals[name].get(tier) for tier in TIERS)
            marks = ("yes" if least.get(tier) == name else "" for tier in TIERS)
            table.append((f"{rows} row{'s' * (rows > 1)} per link", name, number, *counts, *marks))
        return Table(("contacts", "algorithm", "links held", *TIERS, *(f"{t} cheapest" for t in TIERS)), tuple(table))


STUDY = Study(
    f"the Delassus matrix of a chain of {LINKS} links against the number of links held: which is cheapest where",
    "",
    Crossed(NUMBERS),
    Growth("links held", panel="contacts"),
    f"As written and as emitted up to {OURS} links are held.",
)
