"""Growth of the Delassus algorithms on stems with branches on either end (PV-OSIMr 2023, Fig. 3).

Every branch has seven links and six rows at its tip. Branches cost the same at every length of the stem, so that growth
is told by the operations that one more link of the stem takes.
"""

from __future__ import annotations

from functools import partial

from opcount.studies.authors import SIZES
from opcount.studies.drawing import Growth
from opcount.studies.grown import Grown, Mechanism
from opcount.studies.measured import Held, stem
from opcount.studies.study import Study

BRANCHES = (1, 2, 3, 4, 5, 7)


def stem_of(branches: int, links: int) -> Held:
    """A stem of so many links, so many branches on either end."""
    return stem(links, branches)


STUDY = Study(
    "Delassus matrices of a stem with 1 to 7 branches on either end, their tips held",
    "PV-OSIMr 2023, Fig. 3",
    Grown(
        {
            f"stem, {n} branch{'es' * (n > 1)}": Mechanism(partial(stem_of, n), (10, 25, 50, 100), ours=25)
            for n in BRANCHES
        },
        ("efpa", "pv_osim", "pv_osimr"),
        "links of the stem",
        linear=True,
        authors=SIZES,
    ),
    Growth("links of the stem", linear=True),
    "As written and as emitted stems are counted up to 25 links.",
)
