"""What claims compare: numbers made of operation counts, and numbers computed by graphs, one for each tier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codegen.tracing.task import TIERS, Tier
from opcount.studies.measured import Held

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Counts = Mapping[tuple[Held, str], Mapping[Tier, int]]

Array = NDArray[np.float64]

STEADY = 1.07


@dataclass(frozen=True, slots=True)
class Counted:
    """A number made of operations: `of` takes them as a table, a row for each case and a column for each algorithm."""

    cases: tuple[Held, ...]
    algorithms: tuple[str, ...]
    of: Callable[[Array], float]

    @property
    def work(self) -> tuple[tuple[Held, str], ...]:
        """What is to be counted."""
        return tuple((held, algorithm) for held in self.cases for algorithm in self.algorithms)

    def value(self, tier: Tier, counts: Counts) -> float | None:
        """The number at a tier; None where an algorithm has no such tier."""
        found = [counts[pair].get(tier) for pair in self.work]
        if any(count is None for count in found):
            return None
        return float(self.of(np.array(found, float).reshape(len(self.cases), len(self.algorithms))))


DIGITS = 3
"""Digits that tables show of numbers."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A number that a function of the tier computes, in a process of its own, at the tiers that it knows.

    Tables show so many `digits` of it: one of what is made of errors of rounding, which differ from processor to
    processor.
    """

    name: str
    function: Callable[[Tier], float]
    tiers: tuple[Tier, ...] = TIERS
    digits: int = DIGITS


Quantity = Counted | Computed


def more(cases: Sequence[Held], first: str, second: str) -> Counted:
    """By how many percent the operations of the first algorithm exceed the second's, at the mean of the cases."""
    return Counted(tuple(cases), (first, second), lambda table: percent(table).mean())


def percent(table: Array) -> Array:
    """By how many percent the first column exceeds the second, by rows."""
    return np.asarray(100.0 * (table[:, 0] / table[:, 1] - 1.0))


def grows(cases: Sequence[Held], algorithm: str) -> Counted:
    """The degree of growth of an algorithm's operations over cases whose sizes have equal steps."""
    return Counted(tuple(cases), (algorithm,), lambda table: degree(table[:, 0]))


def degree(counts: Array) -> int:
    """The degree of growth of counts at equal steps: the least k whose k-th differences do not grow any more.

    They grow if one of the later half exceeds all of the earlier half by more than the factor `STEADY`. Unlike a slope
    over logarithms this does not tend to its limit with the length of the chains: lower terms of a polynomial bend the
    slope where they are large.
    """
    differences = np.asarray(counts, float)
    for k in range(len(counts) - 1):
        half = len(differences) // 2
        if differences[half:].max() <= STEADY * max(differences[:half].max(), 0.0):
            return k
        differences = np.diff(differences)
    return len(counts) - 1


def slope(sizes: Sequence[float], counts: Array) -> float:
    """The exponent between the two largest sizes."""
    return float(np.log(counts[-1] / counts[-2]) / np.log(sizes[-1] / sizes[-2]))


def cholesky(m: int) -> int:
    """Operations of a dense Cholesky factorisation of m rows: roots, quotients, products and differences."""
    return m + m * (m - 1) // 2 + m * (m * m - 1) // 3


def triangular(m: int) -> int:
    """Operations of solving with both of its factors: quotients, products and differences."""
    return 2 * (m + m * (m - 1))


def rows(held: Held) -> int:
    """The rows of all contacts, which state their number."""
    return sum(int(contact.rpartition(":")[2]) for contact in held.contacts)
