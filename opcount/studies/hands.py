"""Operations of the Delassus algorithms for hands whose fingertips are held by points (PV-OSIMr 2023, Fig. 6).

A Shadow hand alone, Atlas with one, with two, and with two on both feet.
"""

from __future__ import annotations

from opcount.studies.compared import Compared
from opcount.studies.drawing import Bars
from opcount.studies.measured import PAPER, Held, fingers
from opcount.studies.study import Study

FEET = PAPER["atlas F6^2"].contacts
ROBOTS = {
    "hand T3^5": Held("shadow_hand", fingers("rh")),
    "atlas, one hand T3^5": Held("atlas_one_hand", fingers("lh")),
    "atlas, two hands T3^10": Held("atlas_shadow", fingers("lh", "rh")),
    "atlas, two hands F6^2 T3^10": Held("atlas_shadow", (*FEET, *fingers("lh", "rh"))),
}

STUDY = Study(
    "Delassus matrices of Shadow hands, alone and on Atlas",
    "PV-OSIMr 2023, Fig. 6",
    Compared(ROBOTS, ("ltl_osim", "efpa", "pv_osim", "pv_osimr")),
    Bars(columns=2),
)
