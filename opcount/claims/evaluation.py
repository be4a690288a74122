"""Claims evaluated: what they are made of is counted and computed once, on all processors."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from codegen.progress import each
from codegen.tracing.task import TIERS, Tier
from opcount.claims.quantities import DIGITS, Computed, Counted
from opcount.store import content, opened
from opcount.studies.measured import measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor

    from opcount.claims.claim import Claim, Verdict

    Numbers = Mapping[tuple[Computed, Tier], float]

HEADER = (
    *("claim", "place", "quote", "compared", "paper"),
    *(f"as {tier}" for tier in TIERS),
    *(f"{tier}: verdict" for tier in TIERS),
    "reason",
)
HOLDS = "holds"
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, our number at each tier (None where there is none), and the verdicts."""

    claim: Claim
    numbers: dict[Tier, float | None]

    @property
    def verdicts(self) -> dict[Tier, Verdict]:
        """The verdict on each tier."""
        return {tier: self.claim.verdict(number) for tier, number in self.numbers.items()}

    @property
    def reason(self) -> str:
        """Why a claim does not hold on some tier, or is not decided."""
        return self.claim.reason if {*self.verdicts.values()} != {HOLDS} else ""

    @property
    def row(self) -> tuple[Cell, ...]:
        """The claim as a row of a table."""
        claim = self.claim
        digits = claim.ours.digits if isinstance(claim.ours, Computed) else DIGITS
        numbers = shown(claim.number), *(shown(number, digits) for number in self.numbers.values())
        quote = f'"{claim.quote}"'
        return (claim.id, claim.place, quote, claim.compared, *numbers, *self.verdicts.values(), self.reason)


def shown(number: float | None, digits: int = DIGITS) -> str:
    """A number to so many digits, errors of rounding as zero; nothing for None."""
    if number is None:
        return ""
    return f"{number if abs(number) > ROUNDING else 0.0:.{digits}g}"


def evaluate(claims: Sequence[Claim], executor: Executor | None = None) -> tuple[Finding, ...]:
    """The findings on claims, in their order, by an executor (None: a process for each processor)."""
    quantities = [claim.ours for claim in claims if claim.ours is not None]
    work = [pair for quantity in quantities if isinstance(quantity, Counted) for pair in quantity.work]
    counts = measure(work, executor)
    numbers = _computed([quantity for quantity in quantities if isinstance(quantity, Computed)], executor)

    def at(claim: Claim, tier: Tier) -> float | None:
        if isinstance(claim.ours, Counted):
            return claim.ours.value(tier, counts)
        return numbers.get((claim.ours, tier)) if claim.ours else None

    return tuple(Finding(claim, {tier: at(claim, tier) for tier in TIERS}) for claim in claims)


def table(findings: Sequence[Finding]) -> Table:
    """One row per claim."""
    return Table(HEADER, tuple(finding.row for finding in findings))


def _computed(quantities: Sequence[Computed], executor: Executor | None) -> Numbers:
    """The numbers that functions compute, by quantity and tier."""
    work = [(quantity, tier) for quantity in dict.fromkeys(quantities) for tier in quantity.tiers]
    with ProcessPoolExecutor(os.cpu_count()) if executor is None else nullcontext(executor) as pool:
        found = pool.map(_one, work)
        return dict(zip(each(work, lambda pair: f"{pair[0].name}, as {pair[1]}"), found, strict=True))


def _one(pair: tuple[Computed, Tier]) -> float:
    """The number, from the store if it is there."""
    quantity, tier = pair
    found = opened().made(f"claim {quantity.name} {tier} {content()}", lambda: float(quantity.function(tier)))
    return float(found)
