"""Growth of the Delassus algorithms on chains with many links held by six rows (PV-OSIMr 2023, Fig. 4).

Where the last sqrt(n) of n links are held (Fig. 4 a), their number dominates; where all are (Fig. 4 b), all branch.
"""

from __future__ import annotations

from math import isqrt

from opcount.studies.authors import SIZES
from opcount.studies.drawing import Growth
from opcount.studies.grown import Grown, Mechanism
from opcount.studies.measured import Held
from opcount.studies.study import Study


def every(links: int) -> Held:
    """A chain, every one of its links held."""
    return Held(f"chain:{links},alternate", tuple(f"link{i}:6" for i in range(links)))


def last(links: int) -> Held:
    """A chain, the last sqrt(n) of its links held."""
    return Held(f"chain:{links},alternate", tuple(f"link{i}:6" for i in range(links - isqrt(links), links)))


STUDY = Study(
    "Delassus matrices of chains with many links held",
    "PV-OSIMr 2023, Fig. 4",
    Grown(
        {
            "chain, last sqrt(n) links held": Mechanism(last, (4, 9, 16, 36, 64, 100), ours=16),
            "chain, every link held": Mechanism(every, (5, 10, 20, 30), ours=10),
        },
        ("efpa", "pv_osim", "pv_osimr", "ltl_osim"),
        authors=SIZES,
    ),
    Growth("links"),
    "As written and as emitted chains are counted up to 16 links, with every link held up to 10. There exponents have "
    "not settled: those of growth are the published ones.",
)
