"""Tables of operations beside published ones: one row per robot and algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from opcount.studies.measured import PAPER, measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADER = ("robot", "algorithm", "written", "emitted", "published", "percent")


def compared(algorithms: Sequence[str], published: Mapping[str, Sequence[int | None]]) -> Table:
    """Operations as written and as emitted, those published (None: not), and emitted in percent of published."""
    found = measure((PAPER[name], algorithm) for name in published for algorithm in algorithms)
    rows: list[tuple[Cell, ...]] = []
    for name, references in published.items():
        for algorithm, reference in zip(algorithms, references, strict=True):
            ours = found[PAPER[name], algorithm]
            percent = None if reference is None else round(100 * ours["emitted"] / reference)
            rows.append((name, algorithm, ours["written"], ours["emitted"], reference, percent))
    return Table(HEADER, tuple(rows))
