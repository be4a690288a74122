"""Counts as tables, which print as text, Markdown, CSV or JSON (`codegen.cli.table.Table`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen.cli.count import HEADER, row
from codegen.cli.table import Cell, Table
from opcount.count import STAGES, Stage, both

if TYPE_CHECKING:
    from collections.abc import Sequence


def by_class(robots: Sequence[str], algorithms: Sequence[str], **options: Any) -> Table:
    """One row per robot, algorithm and stage: operations by class, and their total."""
    rows = [
        row(robot, algorithm, stage, counted)
        for robot in robots
        for algorithm in algorithms
        for stage, counted in both(robot, algorithm, **options).items()
    ]
    return Table(HEADER, tuple(rows))


def totals(robots: Sequence[str], algorithms: Sequence[str], stage: Stage = "emitted", **options: Any) -> Table:
    """One row per robot, one column per algorithm: totals at one stage, which the first heading names."""
    if stage not in STAGES:
        raise ValueError(f"stage must be one of {', '.join(STAGES)}, not {stage!r}")
    rows: list[tuple[Cell, ...]] = [
        (robot, *(both(robot, algorithm, **options)[stage].total for algorithm in algorithms)) for robot in robots
    ]
    return Table((f"as {stage}", *algorithms), tuple(rows))
