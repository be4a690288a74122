"""The figure of the study of convergence: what is left after every proximal step, one line per algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    from pathlib import Path

    from codegen.cli.table import Table

COLOURS = ("#c77f1a", "#3b6fb6", "#777777", "#1b6e3c")


def draw(table: Table, path: Path) -> None:
    """Medians over the states on a logarithmic axis, with the band from the 5th to the 95th percentile."""
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for colour, algorithm in zip(COLOURS, dict.fromkeys(row[0] for row in table.rows), strict=False):
        rows = [row[1:] for row in table.rows if row[0] == algorithm]
        steps, least, _, middle, _, most = zip(*rows, strict=True)
        axes.plot(steps, middle, color=colour, marker="o", markersize=3, label=algorithm)
        axes.fill_between(steps, least, most, color=colour, alpha=0.15, linewidth=0)
    axes.set_yscale("log")
    axes.set_xlabel("proximal steps")
    axes.set_ylabel("residual (m/s², rad/s²)")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=150)
