"""Operations of the Delassus algorithms on the papers' robots (2023 paper, Fig. 5 and its programs).

`aba_osim` stands beside the published `ltl_osim`, whose work it does without forming M.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opcount.studies.compared import compared

if TYPE_CHECKING:
    from codegen.cli.table import Table

ALGORITHMS = ("ltl_osim", "aba_osim", "kjr", "efpa", "pv_osim", "pv_osimr")
AUTHORS: dict[str, tuple[int | None, ...]] = {
    "iiwa H3": (1415, None, 2089, 1593, 1182, 1182),
    "iiwa H6": (1708, None, 2038, 2008, 1452, 1452),
    "go1 F3 x1": (3453, None, 3860, 3463, 3220, 3220),
    "go1 F3 x4": (5091, None, 12485, 6193, 5221, 5221),
    "talos F6^2": (22354, None, 13665, 12651, 11491, 11491),
    "talos F6^2 H6^2": (29428, None, 28138, 21227, 17811, 18988),
    "atlas F6^2": (14129, None, 11309, 10380, 9082, 9082),
    "atlas F6^2 H6^2": (21011, None, 26462, 18361, 14765, 15230),
    "atlas 4x3D per foot": (20399, None, 13341, 17476, 15584, 11114),
}


def table() -> Table:
    """One row per robot and algorithm."""
    return compared(ALGORITHMS, AUTHORS)
