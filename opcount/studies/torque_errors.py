"""What approximate and unconstrained inverse dynamics lack at every joint of a swinging leg (Chignoli et al. 2023).

Sec. IX-B of the paper states it for the ankle of the MIT Humanoid; here are the legs of all its robots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.cli.table import Cell, Table
from opcount.studies.drawing import Bars
from opcount.studies.study import Study
from opcount.studies.swing import ARMATURE, BARE, EXACT, error, swung
from opcount.studies.torques import LEG, ROBOT

if TYPE_CHECKING:
    from collections.abc import Mapping

LEGS: dict[str, tuple[str, ...]] = {
    ROBOT: LEG,
    "mini_cheetah": ("FL_",),
    "jvrc1": ("left_hip", "left_knee", "left_ankle"),
}
"""Robots whose gears have constant ratios, and how the names of a leg's joints begin."""


def table(legs: Mapping[str, tuple[str, ...]] = LEGS) -> Table:
    """One row per robot and joint: root mean square errors (N m), and in percent of the largest torque."""
    rows: list[tuple[Cell, ...]] = []
    for robot, leg in legs.items():
        torques = swung(robot, leg)
        for joint, exact in torques[EXACT].items():
            most = float(np.abs(exact).max())
            errors = [error(exact, torques[name][joint]) for name in (ARMATURE, BARE)]
            shares = (round(100 * lacks / most, 1) for lacks in errors)
            rows.append((robot, joint, float(f"{most:.4g}"), *(float(f"{lacks:.3g}") for lacks in errors), *shares))
    percents = (f"{name} %" for name in (ARMATURE, BARE))
    return Table(("robot", "joint", "largest torque", ARMATURE, BARE, *percents), tuple(rows))


STUDY = Study(
    "what inverse dynamics lack at the joints of a swinging leg, with rotors as armature and without",
    "Chignoli et al. 2023, sec. IX-B",
    lambda quick, executor: table(dict([*LEGS.items()][: 1 if quick else None])),
    Bars(bar="joint", tiers=(ARMATURE, BARE), unit="root mean square error over one period (N m)"),
    "The legs swing by 0.5 rad at 1.5 Hz at every joint.",
)
