"""Counts as tables, which print as text, Markdown, CSV or JSON (`codegen.cli.table.Table`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen.cli.count import HEADER, row
from codegen.cli.table import Cell, Table
from codegen.tracing.task import TIERS, Tier
from opcount.count import count, counts, tiers_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def by_class(robots: Sequence[str], algorithms: Sequence[str], **options: Any) -> Table:
    """One row per robot, algorithm and tier: operations by class, and their total."""
    rows = [
        row(robot, algorithm, tier, counted)
        for robot in robots
        for algorithm in algorithms
        for tier, counted in counts(robot, algorithm, tiers_of(algorithm), **options).items()
    ]
    return Table(HEADER, tuple(rows))


def totals(robots: Sequence[str], algorithms: Sequence[str], tier: Tier = "emitted", **options: Any) -> Table:
    """One row per robot, one column per algorithm: totals of one tier, which the first heading names."""
    if tier not in TIERS:
        raise ValueError(f"tier must be one of {', '.join(TIERS)}, not {tier!r}")
    rows: list[tuple[Cell, ...]] = [
        (robot, *(count(robot, algorithm, tier=tier, **options).total for algorithm in algorithms)) for robot in robots
    ]
    return Table((f"as {tier}", *algorithms), tuple(rows))
