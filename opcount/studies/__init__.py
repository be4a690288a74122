"""Published tables and figures, reproduced: one file each, with the published numbers beside today's.

`python -m opcount.studies NAME` prints one. Counts are of the C as emitted unless a column says otherwise; the
numbers that they are compared with are operations of the papers' own CasADi programs, measured as those stand:
Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676); Sathya and Carpentier 2024 (hal-04443056).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from opcount.studies import (
    ablation,
    accuracy,
    branches,
    builds,
    chains,
    constrained,
    convergence,
    delassus,
    links,
    proximal,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.cli.table import Table

__all__ = ["STUDIES", "Study"]


@dataclass(frozen=True, slots=True)
class Study:
    """What a study shows, the function that makes its table, and whether it is so long that one has to ask for it."""

    title: str
    table: Callable[[], Table]
    long: bool = False

    def __str__(self) -> str:
        return self.title


STUDIES: dict[str, Study] = {
    "delassus": Study("Delassus matrices on the papers' robots", delassus.table),
    "constrained": Study("direct and soft constrained dynamics on the papers' robots", constrained.table),
    "proximal": Study("proximal constrained dynamics, three steps, and damped inverses", proximal.table),
    "chains": Study("chains with their end held: operations against length, with fitted exponents", chains.table),
    "branches": Study("a stem of 50 links with branches on either end, their tips held", branches.table),
    "links": Study("chains with every link held", links.table),
    "accuracy": Study(
        "compiled constrained dynamics against the dense oracle, largest errors", accuracy.table, long=True
    ),
    "builds": Study("from a model to its callable: seconds and memory", builds.table, long=True),
    "ablation": Study("what every lowering step and pass saves alone", ablation.table, long=True),
    "convergence": Study("a redundantly held Talos: what is left after every proximal step", convergence.table),
}
