"""Operations until (W + 1/mu) x = b is solved (constrained ABA 2024, Fig. 5).

`ltl_osim` and `pv_osimr` give W: its dense Cholesky factors and two substitutions are added, and for the matrix that
`caba_osim` gives, which is the inverse, a product with b. `pv_osimf` and `caba_osimf` solve as they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from codegen.tracing.task import TIERS
from opcount.studies.authors import DAMPED
from opcount.studies.compared import AUTHORS
from opcount.studies.constrained import ROBOTS
from opcount.studies.drawing import Bars
from opcount.studies.measured import Held, measure
from opcount.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor


def factored(m: int) -> int:
    """Operations of damping, the Cholesky factor of a dense m x m matrix and two substitutions.

    Products and differences of the factor, its quotients and roots, then m^2 in each substitution.
    """
    return m + m * (m * m - 1) // 3 + m * (m - 1) // 2 + m + 2 * m * m


def multiplied(m: int) -> int:
    """Operations of a dense m x m matrix times a vector."""
    return 2 * m * m - m


ALGORITHMS: dict[str, Callable[[int], int]] = {
    "ltl_osim": factored,
    "pv_osimr": factored,
    "pv_osimf": lambda m: 0,
    "caba_osim": multiplied,
    "caba_osimf": lambda m: 0,
}
"""The algorithms, and what has to follow them for m rows."""


@dataclass(frozen=True, slots=True)
class Solved:
    """Robots with contacts by names; makes the table of operations until x is there. Quick is the first robot alone."""

    robots: Mapping[str, Held]

    def __call__(self, quick: bool = False, executor: Executor | None = None) -> Table:
        """One row per robot and algorithm; `solving` is the part that follows the algorithm."""
        robots = dict([*self.robots.items()][: 1 if quick else None])
        found = measure(((held, algorithm) for held in robots.values() for algorithm in ALGORITHMS), executor)
        rows: list[tuple[Cell, ...]] = []
        for name, held in robots.items():
            m = sum(int(text.split(":")[1]) for text in held.contacts)
            for algorithm, follows in ALGORITHMS.items():
                ours, more = found[held, algorithm], follows(m)
                totals = tuple(ours[tier] + more if tier in ours else None for tier in TIERS)
                rows.append((name, algorithm, m, *totals, *[more] * len(TIERS), DAMPED.get(name, {}).get(algorithm)))
        solving = tuple(f"{tier}, solving" for tier in TIERS)
        return Table(("robot", "algorithm", "rows", *TIERS, *solving, AUTHORS), tuple(rows))


FLOATING = {name: held for name, held in ROBOTS.items() if held.robot != "iiwa"}

STUDY = Study(
    "the damped Delassus matrix solved for a right-hand side",
    "constrained ABA 2024, Fig. 5",
    Solved(FLOATING),
    Bars("solving", "what follows the algorithm until x is there", AUTHORS),
    "The authors' programs of caba_osim end with the inverse, those of caba_osimf with its factors.",
)
