"""Operations of the Delassus algorithms for chains with a 6D contact on every link (2023 paper, Fig. 4 b)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from opcount.studies.measured import Held, exponent, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

ALGORITHMS = ("pv_osimr", "pv_osim", "efpa", "caba_osim")
LENGTHS = (5, 10, 20)
PUBLISHED = {("pv_osimr", 20): 117000}  # to three digits


def chain(n: int) -> Held:
    """A chain of n links, every one of them held."""
    return Held(f"chain:{n},alternate", tuple(f"link{i}:6" for i in range(n)))


def table(lengths: Sequence[int] = LENGTHS, algorithms: Sequence[str] = ALGORITHMS) -> Table:
    """One row per algorithm and length; the last column fits count = c n^exponent to all lengths."""
    found = measure((chain(n), algorithm) for algorithm in algorithms for n in lengths)
    rows: list[tuple[Cell, ...]] = []
    for algorithm in algorithms:
        counts = [found[chain(n), algorithm]["emitted"] for n in lengths]
        grows = round(exponent(lengths, counts), 3)
        for n, count in zip(lengths, counts, strict=True):
            reference = PUBLISHED.get((algorithm, n))
            percent = None if reference is None else round(100 * count / reference)
            rows.append((algorithm, n, count, reference, percent, grows if n == lengths[-1] else None))
    return Table(("algorithm", "links", "emitted", "published", "percent", "exponent"), tuple(rows))
