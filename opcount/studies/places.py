"""Where the papers' figures and tables are: paper, figure, the studies that reproduce it, and what differs."""

from __future__ import annotations

from typing import NamedTuple

from codegen.cli.table import Table


class Place(NamedTuple):
    """A figure or table of a paper, the studies that reproduce it, and what differs."""

    paper: str
    figure: str
    studies: tuple[str, ...]
    differs: str = ""


CABA, OSIMR, LOOPS = "constrained ABA 2024", "PV-OSIMr 2023", "recursive loops 2023"
PLACES: tuple[Place, ...] = (
    Place(CABA, "Fig. 1", ("constrained",)),
    Place(CABA, "Fig. 2, Table II", ("timings",)),
    Place(CABA, "Fig. 3", ("growth", "growth_timings")),
    Place(CABA, "Fig. 4", ("convergence",)),
    Place(CABA, "Fig. 5", ("damped",)),
    Place(CABA, "Table III", ("damped_timings",)),
    Place(OSIMR, "Fig. 3", ("stems",)),
    Place(OSIMR, "Fig. 4", ("links",)),
    Place(OSIMR, "Fig. 5", ("delassus",)),
    Place(OSIMR, "Fig. 6", ("hands",)),
    Place(OSIMR, "programs", ("direct", "chains")),
    Place(LOOPS, "Tables II to IV, Figs. 9, 10, 12", ("loops", "loop_timings")),
    Place(LOOPS, "Figs. 11, 13", ("loop_growth", "loop_growth_timings"), "times of up to 16 links, not 24"),
    Place(LOOPS, "Fig. 14", ("torques", "torque_errors")),
    Place("contact-rich simulation 2023", "Fig. 3", ("loop_growth", "loop_growth_timings"), "times of up to 16 links"),
    Place("proximal slides", "Cholesky decomposition timings", ("kkt",), "operations in the place of times"),
    Place("proximal slides", "constrained dynamics timings", ("kkt_timings",), "no Cassie"),
)
"""All of them that show numbers; the others are drawings."""


def places() -> Table:
    """One row per figure."""
    return Table(
        ("paper", "figure", "study", "what differs"),
        tuple((one.paper, one.figure, ", ".join(one.studies), one.differs) for one in PLACES),
    )
