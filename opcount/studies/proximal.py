"""Operations of the 2024 paper's algorithms: three proximal steps, and the damped inverse of the Delassus matrix.

The published column counts straightforward programs of the same algorithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opcount.studies.compared import compared

if TYPE_CHECKING:
    from codegen.cli.table import Table

ALGORITHMS = ("constrained_aba", "prox_pv", "aba_prox_stiff", "aba_prox", "tree_kkt", "caba_osim")
PUBLISHED: dict[str, tuple[int | None, ...]] = {
    "iiwa H6": (2590, 3101, 2874, 3191, None, 1500),
    "go1 F3 x4": (7274, 9255, 8216, 9968, None, 5499),
    "talos F6^2": (18613, 22355, 34273, 35163, None, 11661),
    "talos F6^2 H6^2": (21099, 36791, 38399, 49897, None, 19420),
    "atlas F6^2 H6^2": (15090, 28305, 24226, 36830, None, 15577),
}


def table() -> Table:
    """One row per robot and algorithm."""
    return compared(ALGORITHMS, PUBLISHED)
