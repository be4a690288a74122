"""Operations of the proximal constrained dynamics with three steps (constrained ABA 2024, Fig. 1).

What the second and third step take is shown apart, where the paper shows all three. Our algorithms that form no matrix
(`aba_prox_stiff`, `aba_prox`, `tree_kkt`) stand beside those of the paper. `prox_kkt`, which the figure does not have,
is within a percent of `prox_ltl`; `cheapest` counts it.
"""

from __future__ import annotations

from opcount.studies.authors import PROXIMAL
from opcount.studies.compared import AUTHORS, Compared
from opcount.studies.drawing import Bars
from opcount.studies.measured import PAPER, Held, fingers
from opcount.studies.study import Study

FEET = PAPER["atlas F6^2"].contacts
ROBOTS = {
    "iiwa H3": PAPER["iiwa H3"],
    "iiwa H6": PAPER["iiwa H6"],
    "go1 F3 x2": Held("go1", ("FL_foot:3", "RR_foot:3")),
    "go1 F3 x4": PAPER["go1 F3 x4"],
    "talos F6^2": PAPER["talos F6^2"],
    "talos F6^2 H6^2": PAPER["talos F6^2 H6^2"],
    "atlas F6^2 H6^2": PAPER["atlas F6^2 H6^2"],
    "atlas_shadow F6^2": Held("atlas_shadow", FEET),
    "atlas_shadow F6^2 T3^5": Held("atlas_shadow", (*FEET, *fingers("lh"))),
    "atlas_shadow F6^2 T3^10": Held("atlas_shadow", (*FEET, *fingers("lh", "rh"))),
}
PAPERS = ("constrained_aba", "prox_pv", "prox_ltls", "prox_ltl")
OURS = ("aba_prox_stiff", "aba_prox", "tree_kkt")

STUDY = Study(
    "proximal constrained dynamics, three steps",
    "constrained ABA 2024, Fig. 1",
    Compared(ROBOTS, (*PAPERS, *OURS), PROXIMAL, steps=True),
    Bars("steps", "the second and third proximal step", AUTHORS),
    f"{', '.join(OURS)} are ours: as published there are none.",
)
