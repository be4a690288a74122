"""Operations of constrained dynamics, direct and soft, on the papers' robots (programs of the 2023 paper).

`prox_ltl` stands beside their dynamics by LTL, which take no proximal step, and `aba_prox`, which forms no M, beside
both; the others are the same algorithms.
"""

from __future__ import annotations

from opcount.studies.authors import DYNAMICS
from opcount.studies.compared import AUTHORS, Compared
from opcount.studies.drawing import Bars
from opcount.studies.measured import PAPER
from opcount.studies.study import Study

STUDY = Study(
    "direct and soft constrained dynamics on the papers' robots",
    "programs of Sathya et al. 2023",
    Compared(PAPER, ("pv", "pv_soft", "pv_early", "prox_ltl", "aba_prox"), DYNAMICS),
    Bars(mark=AUTHORS),
    "aba_prox is ours: as published there is none.",
)
