"""Torques of a swinging leg by exact, approximate and unconstrained inverse dynamics (Chignoli et al. 2023, Fig. 14).

The left leg of the MIT Humanoid swings by 0.5 rad at 1.5 Hz at every joint. The paper shows one joint and calls it the
ankle; its numbers (4.31 and 1.04 N m) are those of the knee.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.cli.table import Cell, Table
from opcount.studies.drawing import SMALL, WORDS, beside, canvas, panels, shown
from opcount.studies.study import Study
from opcount.studies.swing import ALGORITHMS, EXACT, FREQUENCY, TIMES, error, swung

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROBOT, KNEE = "mit_humanoid", "left_knee_link"
LEG = ("left_hip", "left_knee", "left_ankle")
STYLES = dict(zip(ALGORITHMS, ("-", "--", ":"), strict=True))
SHOWN = 4
"""Of so many times one is in the table."""


def table(every: int = SHOWN) -> Table:
    """One row per joint and time (s): torques (N m) by the three algorithms."""
    torques = swung(ROBOT, LEG)
    rows: list[tuple[Cell, ...]] = [
        (joint, round(n / TIMES / FREQUENCY, 4), *(round(float(torques[name][joint][n]), 5) for name in ALGORITHMS))
        for joint in torques[EXACT]
        for n in range(0, TIMES, every)
    ]
    return Table(("joint", "time", *ALGORITHMS), tuple(rows))


def figure(drawn: Table) -> Figure:
    """A panel per joint; beside a line its algorithm and its root mean square error."""
    grouped = panels(drawn, "joint")
    whole = canvas(9.2, 1.9 * ((len(grouped) + 1) // 2))
    axes = whole.subplots((len(grouped) + 1) // 2, 2, squeeze=False).ravel()
    for (joint, rows), ax in zip(grouped.items(), axes, strict=False):
        exact, ends = np.array([row[EXACT] for row in rows]), []
        for name in ALGORITHMS:
            torque = np.array([row[name] for row in rows])
            ax.plot([row["time"] for row in rows], torque, STYLES[name], color="black", linewidth=1.1)
            lacks = f"  rms {shown(error(exact, torque))}" * (name != EXACT)
            ends.append((rows[-1]["time"], float(torque[-1]), f"{name}{lacks}"))
        beside(ax, ends)
        ax.set_title(joint, loc="left", fontsize=WORDS, fontweight="bold")
        ax.set_ylabel("torque (N m)", fontsize=WORDS)
        ax.set_xlabel("time (s)", fontsize=WORDS)
        ax.tick_params(labelsize=SMALL)
        ax.grid(axis="y", color="0.9", linewidth=0.5)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[len(grouped) :]:
        ax.remove()
    return whole


STUDY = Study(
    "torques of a swinging leg: exact, with rotors as armature, without rotors",
    "Chignoli et al. 2023, Fig. 14",
    lambda quick, executor: table(20 if quick else SHOWN),
    figure,
    "The paper shows one joint and calls it the ankle; its errors, 4.31 and 1.04 N m, are those of the knee.",
)
