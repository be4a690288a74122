"""Growth of forward dynamics and of the Delassus matrix on geared and belt-driven chains (Chignoli et al. 2023).

Figs. 11 and 13 of the paper show times of 2 to 24 links; these are operations.
"""

from __future__ import annotations

from opcount.studies.drawing import Growth
from opcount.studies.grown import Grown, Mechanism
from opcount.studies.measured import Held
from opcount.studies.study import Study

LENGTHS = (2, 4, 8, 12, 16, 20, 24)
ALGORITHMS = ("aba", "projection_fd", "lagrange_fd", "approximate_aba", "efpa", "projected_osim")


def geared(links: int) -> Held:
    """A chain, each joint geared to a rotor; its end is held by what works on contacts."""
    return Held(f"geared_chain:{links},alternate", ())


def belted(links: int) -> Held:
    """A chain, joints driven in pairs by belts."""
    return Held(f"belt_chain:{links},alternate", ())


STUDY = Study(
    "geared and belt-driven chains of 2 to 24 links",
    "Chignoli et al. 2023, Figs. 11, 13",
    Grown(
        {"geared chain": Mechanism(geared, LENGTHS, ours=24), "belt chain": Mechanism(belted, LENGTHS, ours=24)},
        ALGORITHMS,
    ),
    Growth("links"),
)
