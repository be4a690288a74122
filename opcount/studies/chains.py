"""Operations against length for serial chains with a 6D contact on their end, with fitted exponents.

Axes are z and y by turns; the published counts are of the 2023 paper's programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from opcount.studies.measured import Held, exponent, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTHS = (10, 50, 100)
PUBLISHED: dict[str, tuple[int | None, ...]] = {
    "ltl_osim": (6576, 127849, 634524),
    "aba_osim": (None, None, None),
    "kjr": (6723, 41323, 84573),
    "efpa": (6978, 43058, 88158),
    "pv_osim": (4851, 30211, 61911),
    "pv_osimr": (None, None, None),
    "caba_osim": (None, None, None),
    "constrained_aba": (None, None, None),
    "pv_early": (None, None, None),
}


def chain(n: int) -> Held:
    """A chain of n links, its end held."""
    return Held(f"chain:{n},alternate", ("tip:6",))


def table(lengths: Sequence[int] = LENGTHS) -> Table:
    """One row per algorithm and length; the last column fits count = c n^exponent to all lengths."""
    found = measure((chain(n), algorithm) for algorithm in PUBLISHED for n in lengths)
    rows: list[tuple[Cell, ...]] = []
    for algorithm, references in PUBLISHED.items():
        counts = [found[chain(n), algorithm]["emitted"] for n in lengths]
        grows = round(exponent(lengths, counts), 3)
        published = dict(zip(LENGTHS, references, strict=True))
        for n, count in zip(lengths, counts, strict=True):
            reference = published.get(n)
            percent = None if reference is None else round(100 * count / reference)
            rows.append((algorithm, n, count, reference, percent, grows if n == lengths[-1] else None))
    return Table(("algorithm", "links", "emitted", "published", "percent", "exponent"), tuple(rows))
