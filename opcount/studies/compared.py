"""Tables of operations in all tiers beside those of the authors' programs: one row per robot and algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from opcount.studies.measured import PAPER, measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADER = ("robot", "algorithm", "published", "written", "emitted", "authors' program", "percent")


def compared(algorithms: Sequence[str], authors: Mapping[str, Sequence[int | None]]) -> Table:
    """Operations by tiers, those of the authors' programs (None: unknown), and emitted in percent of published."""
    found = measure((PAPER[name], algorithm) for name in authors for algorithm in algorithms)
    rows: list[tuple[Cell, ...]] = []
    for name, references in authors.items():
        for algorithm, reference in zip(algorithms, references, strict=True):
            ours = found[PAPER[name], algorithm]
            published = ours.get("published")
            percent = round(100 * ours["emitted"] / published) if published else None
            rows.append((name, algorithm, published, ours["written"], ours["emitted"], reference, percent))
    return Table(HEADER, tuple(rows))
