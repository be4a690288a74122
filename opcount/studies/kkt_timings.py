"""Times of constrained dynamics by factors of the KKT matrix (Carpentier, Budhiraja, Mansard, RSS 2021).

On the robots of the talk: the sparse Cholesky factors as compiled C (`prox_kkt`) and in Pinocchio's C++, and beside
them factors by sweeps (`tree_kkt`) and constrained ABA. The talk's figures have no numbers. Cassie's linkages are
constraints there; Pinocchio's peer has none, and Cassie is left out.
"""

from __future__ import annotations

from opcount.studies.drawing import Bars
from opcount.studies.kkt import ROBOTS
from opcount.studies.study import Study
from opcount.studies.timed import OURS, PINOCCHIO
from opcount.studies.timings import RATIO, Raced

ALGORITHMS = {"prox_kkt": "proxLTL", "tree_kkt": "", "constrained_aba": "cABA"}
"""The algorithms, and Pinocchio's word for each."""

STUDY = Study(
    "times of constrained dynamics by factors of the KKT matrix, three steps, beside Pinocchio's C++",
    "proximal slides (RSS 2021)",
    Raced({name: held for name, held in ROBOTS.items() if held.robot != "cassie"}, ALGORITHMS),
    Bars(
        "steps",
        "the second and third step",
        tiers=(OURS, PINOCCHIO),
        unit="microseconds",
        ratio=RATIO,
        about="machine",
        columns=2,
    ),
    "Times are of the machine that the last column names.",
)
