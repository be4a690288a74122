"""Operations of the Delassus algorithms for a stem with branches on either end (2023 paper, Fig. 3).

Every branch has seven links and a 6D contact on its tip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from opcount.studies.measured import Held, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

STEM = 50
PUBLISHED: dict[int, dict[str, int]] = {
    1: {"efpa": 37413, "pv_osim": 24677, "pv_osimr": 24677},
    2: {"efpa": 65259, "pv_osim": 41371, "pv_osimr": 29703},
    4: {"efpa": 124263, "pv_osim": 82823, "pv_osimr": 46591},
}


def stem(links: int, branches: int) -> Held:
    """A stem of so many links with so many branches on either end, all tips held."""
    return Held(f"stem:{links},{branches}", tuple(f"tip{n}:6" for n in range(2 * branches)))


def table(links: int = STEM, numbers: Sequence[int] = tuple(PUBLISHED)) -> Table:
    """One row per number of branches and algorithm; published counts are for a stem of 50."""
    found = measure((stem(links, number), algorithm) for number in numbers for algorithm in PUBLISHED[number])
    rows: list[tuple[Cell, ...]] = []
    for number in numbers:
        for algorithm, published in PUBLISHED[number].items():
            count = found[stem(links, number), algorithm]["emitted"]
            reference = published if links == STEM else None
            percent = None if reference is None else round(100 * count / reference)
            rows.append((number, algorithm, count, reference, percent))
    return Table(("branches per side", "algorithm", "emitted", "published", "percent"), tuple(rows))
