"""Operations of the Delassus algorithms for hands whose fingertips are held by points (PV-OSIMr 2023, Fig. 6).

A Shadow hand alone, Atlas with one, with two, and with two on both feet. The hand alone is a part of the bundled
`atlas_shadow`; in Atlas with one hand the other hand's joints are locked.
"""

from __future__ import annotations

from opcount.studies.compared import Compared
from opcount.studies.drawing import Bars
from opcount.studies.measured import PAPER, Held, fingers
from opcount.studies.study import Study

FEET = PAPER["atlas F6^2"].contacts
ROBOTS = {
    "hand T3^5": Held("atlas_shadow", fingers("lh"), root="lh_WRJ1"),
    "atlas, one hand T3^5": Held("atlas_shadow", fingers("lh"), locked="rh_"),
    "atlas, two hands T3^10": Held("atlas_shadow", fingers("lh", "rh")),
    "atlas, two hands F6^2 T3^10": Held("atlas_shadow", (*FEET, *fingers("lh", "rh"))),
}

STUDY = Study(
    "Delassus matrices of Shadow hands, alone and on Atlas",
    "PV-OSIMr 2023, Fig. 6",
    Compared(ROBOTS, ("ltl_osim", "efpa", "pv_osim", "pv_osimr")),
    Bars(columns=2),
)
