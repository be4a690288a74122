"""The figure of a bench: nanoseconds per state by robot, one panel per algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

if TYPE_CHECKING:
    from pathlib import Path

    from opcount.bench.report import Report

COLOURS = {"rigidc": "#1b6e3c", "Pinocchio": "#3b6fb6", "CasADi C": "#c77f1a"}
OTHER = "#777777"


def draw(report: Report, path: Path) -> None:
    """Bars of the medians on a logarithmic axis, with the 10th to 90th percentile."""
    algorithms = tuple(dict.fromkeys(result.algorithm for result in report.results))
    figure = Figure(figsize=(9, 2.6 * len(algorithms) + 0.6), layout="constrained")
    panels = figure.subplots(len(algorithms), 1, squeeze=False)[:, 0]
    width = 0.85 / len(report.labels)
    for panel, algorithm in zip(panels, algorithms, strict=True):
        results = [result for result in report.results if result.algorithm == algorithm]
        for k, label in enumerate(report.labels):
            found = [(i, time) for i, result in enumerate(results) if (time := result.time(label))]
            at = [i + (k - (len(report.labels) - 1) / 2) * width for i, _ in found]
            middle = np.array([time.median for _, time in found])
            ends = np.array([(time.median - time.p10, time.p90 - time.median) for _, time in found]).reshape(-1, 2).T
            panel.bar(
                at,
                middle,
                width,
                yerr=ends,
                color=_colour(label),
                alpha=_shade(report, label),
                error_kw={"linewidth": 0.8},
            )
        panel.set_yscale("log")
        panel.set_xlim(-0.6, len(results) - 0.4)
        names = [result.robot.replace(" ", "\n", 1) for result in results]
        panel.set_xticks(range(len(results)), names, fontsize="small")
        panel.set_ylabel(f"{algorithm}, ns")
        panel.grid(axis="y", alpha=0.3)
        panel.set_axisbelow(True)
    patches = [Patch(color=_colour(label), alpha=_shade(report, label), label=label) for label in report.labels]
    figure.legend(handles=patches, loc="outside upper center", ncols=4, fontsize="small")
    figure.savefig(path, dpi=150)


def _colour(label: str) -> str:
    return next((colour for peer, colour in COLOURS.items() if label.startswith(peer)), OTHER)


def _shade(report: Report, label: str) -> float:
    """Builds of one peer differ in how strong their colour is."""
    family = [name for name in report.labels if _colour(name) == _colour(label)]
    return 1.0 - 0.7 * family.index(label) / max(len(family) - 1, 1)
