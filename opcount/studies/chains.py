"""Growth of the Delassus algorithms on chains whose end is held (programs of the PV-OSIMr paper, 2023)."""

from __future__ import annotations

from opcount.studies.authors import SIZES
from opcount.studies.drawing import Growth
from opcount.studies.grown import Grown, Mechanism
from opcount.studies.measured import chain
from opcount.studies.study import Study

STUDY = Study(
    "Delassus matrices of chains with their end held",
    "programs of Sathya et al. 2023",
    Grown(
        {"chain": Mechanism(chain, (5, 10, 20, 50, 70, 100), ours=50)},
        ("ltl_osim", "kjr", "efpa", "pv_osim", "pv_osimr", "caba_osim"),
        authors=SIZES,
    ),
    Growth("links"),
    "As written and as emitted chains are counted up to 50 links.",
)
