"""Operations of the 2024 paper's algorithms: three proximal steps, and the damped inverse of the Delassus matrix.

The authors' column counts programs that follow the same listings. `aba_prox_stiff`, `aba_prox` and `tree_kkt`
stand beside the published ones that do the same by a matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opcount.studies.compared import compared

if TYPE_CHECKING:
    from codegen.cli.table import Table

ALGORITHMS = (
    *("constrained_aba", "prox_pv", "caba_osim"),
    *("prox_ltls", "aba_prox_stiff", "prox_ltl", "aba_prox", "prox_kkt", "tree_kkt"),
)
AUTHORS: dict[str, tuple[int | None, ...]] = {
    "iiwa H6": (2590, 3101, 1500, 2874, None, 3191, None, None, None),
    "go1 F3 x4": (7274, 9255, 5499, 8216, None, 9968, None, None, None),
    "talos F6^2": (18613, 22355, 11661, 34273, None, 35163, None, None, None),
    "talos F6^2 H6^2": (21099, 36791, 19420, 38399, None, 49897, None, None, None),
    "atlas F6^2 H6^2": (15090, 28305, 15577, 24226, None, 36830, None, None, None),
}


def table() -> Table:
    """One row per robot and algorithm."""
    return compared(ALGORITHMS, AUTHORS)
