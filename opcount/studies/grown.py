"""Studies of growth: operations against size in all tiers, with fitted exponents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from codegen.tracing.task import TIERS, Tier
from opcount.studies.compared import AUTHORS
from opcount.studies.measured import Case, Held, exponent, fitted_sizes, measure, slope

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from opcount.studies.measured import Counts


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A family of mechanisms: one for each size, which is the argument of `make` unless `links` says otherwise.

    As published it is counted at all sizes, as written and as emitted, which takes longer, up to `ours`.
    """

    make: Callable[[int], Held]
    sizes: tuple[int, ...]
    ours: int
    links: Callable[[int], int] = int

    def tiers(self, size: int) -> tuple[Tier, ...]:
        """The tiers at which a size is counted."""
        return TIERS if size <= self.ours else ("published",)


@dataclass(frozen=True, slots=True)
class Grown:
    """Mechanisms by names, and algorithms; makes the table of their operations against size.

    Growth is fitted to the three largest sizes of a tier: the exponent of count = c size^exponent or, if `linear`, for
    mechanisms much of which is there at any size, the slope of count = c + slope size. Quick are the first two
    mechanisms at their two smallest sizes.
    """

    mechanisms: Mapping[str, Mechanism]
    algorithms: tuple[str, ...]
    size: str = "links"
    linear: bool = False
    authors: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __call__(self, quick: bool = False, executor: Executor | None = None) -> Table:
        """One row per mechanism, algorithm and size; fits stand at the largest size of the tier."""
        most = 2 if quick else None
        sizes = {name: one.sizes[:most] for name, one in [*self.mechanisms.items()][:most]}
        found = measure(
            (
                Case(self.mechanisms[name].make(size), algorithm, self.mechanisms[name].tiers(size))
                for name, known in sizes.items()
                for algorithm in self.algorithms
                for size in known
            ),
            executor,
        )
        rows = [
            row
            for name, known in sizes.items()
            for algorithm in self.algorithms
            for row in self._rows(name, algorithm, known, found)
        ]
        fits = tuple(f"{tier} {'slope' if self.linear else 'exponent'}" for tier in TIERS)
        header = ("mechanism", "algorithm", self.size, *TIERS, *fits, *[AUTHORS] * bool(self.authors))
        return Table(header, tuple(rows))

    def _rows(self, name: str, algorithm: str, sizes: tuple[int, ...], found: Counts) -> list[tuple[Cell, ...]]:
        one = self.mechanisms[name]
        counts = {size: found[one.make(size), algorithm] for size in sizes}
        sized = {tier: {one.links(s): c[tier] for s, c in counts.items() if tier in c} for tier in TIERS}
        fits = {tier: fitted(sized[tier], slope if self.linear else exponent) for tier in TIERS}
        largest = {tier: max((size for size in sizes if tier in counts[size]), default=0) for tier in TIERS}
        rows: list[tuple[Cell, ...]] = []
        for size in sizes:
            totals = tuple(counts[size].get(tier) for tier in TIERS)
            growth = tuple(fits[tier] if size == largest[tier] else None for tier in TIERS)
            theirs = [self.authors.get(f"{name} {size}", {}).get(algorithm)] * bool(self.authors)
            rows.append((name, algorithm, one.links(size), *totals, *growth, *theirs))
        return rows


def fitted(counts: Mapping[int, float], fit: Callable[[Sequence[float], Sequence[float]], float]) -> float | None:
    """A fit to operations or times by size at the largest sizes; None of fewer than two."""
    if len(counts) < 2:
        return None
    kept = [*counts][-fitted_sizes(len(counts)) :]
    return round(fit(kept, [counts[size] for size in kept]), 2)
