"""Operations of constrained dynamics, direct and soft, on the papers' robots (programs of the 2023 paper).

`prox_ltl` stands beside their dynamics by LTL, which take no proximal step, and `aba_prox`, which forms no M, beside
both; the others are the same algorithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opcount.studies.compared import compared

if TYPE_CHECKING:
    from codegen.cli.table import Table

ALGORITHMS = ("pv", "pv_soft", "pv_early", "prox_ltl", "aba_prox")
AUTHORS: dict[str, tuple[int | None, ...]] = {
    "iiwa H3": (2539, 2047, None, 2583, None),
    "iiwa H6": (2999, 1806, 3192, 3057, None),
    "go1 F3 x1": (6282, 5691, 6018, 6618, None),
    "go1 F3 x4": (8262, 5898, 7326, 9528, None),
    "talos F6^2": (22056, 17444, 19901, 35545, None),
    "talos F6^2 H6^2": (29854, 17586, 22495, 48437, None),
    "atlas F6^2": (16033, 11321, 13858, 22194, None),
    "atlas F6^2 H6^2": (22921, 11467, 16136, 34944, None),
    "atlas 4x3D per foot": (None, 11879, None, 34344, None),
}


def table() -> Table:
    """One row per robot and algorithm."""
    return compared(ALGORITHMS, AUTHORS)
