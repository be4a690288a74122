"""Operations of the Delassus algorithms on the papers' robots.

Sathya, Decre, Swevers 2023, Fig. 5 (Atlas standing by 6D, by four points per foot, by feet and hands) and its programs.
`aba_osim` stands beside the published `ltl_osim`, whose work it does without forming M.
"""

from __future__ import annotations

from opcount.studies.authors import MATRICES
from opcount.studies.compared import AUTHORS, Compared
from opcount.studies.drawing import Bars
from opcount.studies.measured import PAPER
from opcount.studies.study import Study

STUDY = Study(
    "Delassus matrices on the papers' robots",
    "PV-OSIMr 2023, Fig. 5",
    Compared(PAPER, ("ltl_osim", "aba_osim", "kjr", "efpa", "pv_osim", "pv_osimr"), MATRICES),
    Bars(mark=AUTHORS),
    "aba_osim is ours: as published there is none.",
)
