"""Times of constrained dynamics on chains and balanced binary trees of up to 100 links (constrained ABA 2024, Fig. 3).

Compiled C beside Pinocchio's C++, which has no `prox_ltls`, with one proximal step and with three. All times of one
robot are taken in one run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from opcount.studies.drawing import Growth
from opcount.studies.grown import Mechanism, fitted
from opcount.studies.growth import links_of, tree
from opcount.studies.measured import chain, exponent
from opcount.studies.study import Study
from opcount.studies.timed import OURS, PINOCCHIO, compiled, machine, rounded, run
from opcount.studies.timings import ALGORITHMS, RATIO, own, peers

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from opcount.studies.timed import Times

STEPS = {1: "one step", 3: "three steps"}
SWEPT = ("constrained_aba", "prox_pv")
"""Algorithms whose functions stay short enough for compilers at all sizes."""
SIDES = (OURS, PINOCCHIO)


@dataclass(frozen=True, slots=True)
class Scaled:
    """Mechanisms by names; makes the table of times against size, ours beyond the size `ours` of `SWEPT` alone.

    Quick is the first mechanism at its two smallest sizes.
    """

    mechanisms: Mapping[str, Mechanism]

    def __call__(self, quick: bool = False, _executor: Executor | None = None) -> Table:
        """One row per mechanism, number of steps, algorithm and size: microseconds; exponents stand at the largest."""
        chosen = [*self.mechanisms.items()][: 1 if quick else None]
        sizes = {name: one.sizes[: 2 if quick else None] for name, one in chosen}
        ours = {
            (name, size): own(one.make(size), ALGORITHMS if size <= one.ours else SWEPT)
            for name, one in chosen
            for size in sizes[name]
        }
        made = compiled([one for timings in ours.values() for one in timings.values()])
        times = {key: run(own, made, peers(self.mechanisms[key[0]].make(key[1]))) for key, own in ours.items()}
        rows: list[tuple[Cell, ...]] = []
        for name, one in chosen:
            found = {one.links(size): times[name, size] for size in sizes[name]}
            for steps, words in STEPS.items():
                rows += (row for algorithm in ALGORITHMS for row in _rows(f"{name}, {words}", steps, algorithm, found))
        exponents = (f"{side} exponent" for side in SIDES)
        return Table(("mechanism", "algorithm", "links", *SIDES, *exponents, RATIO, "machine"), tuple(rows))


def _rows(mechanism: str, steps: int, algorithm: str, found: Mapping[int, Times]) -> list[tuple[Cell, ...]]:
    """The rows of an algorithm with so many steps, from times by links."""
    labels = dict(zip(SIDES, (f"{steps} {algorithm}", f"{steps} {ALGORITHMS[algorithm]}"), strict=True))
    known = {side: {n: times[label] for n, times in found.items() if label in times} for side, label in labels.items()}
    fits = {side: fitted(of, exponent) for side, of in known.items()}
    rows: list[tuple[Cell, ...]] = []
    for n in found:
        ours, theirs = (known[side].get(n) for side in SIDES)
        grown = (fits[side] if n == max(known[side], default=0) else None for side in SIDES)
        ratio = rounded(theirs / ours) if ours and theirs else None
        rows.append((mechanism, algorithm, n, rounded(ours), rounded(theirs), *grown, ratio, machine()))
    return rows


STUDY = Study(
    "times of constrained dynamics on chains and binary trees of up to 100 links, beside Pinocchio's C++",
    "constrained ABA 2024, Fig. 3",
    Scaled(
        {
            "chain": Mechanism(chain, (5, 10, 20, 50, 100), ours=50),
            "binary tree": Mechanism(tree, (1, 2, 3, 4, 5), ours=4, links=links_of),
        }
    ),
    Growth("links", tiers=SIDES, unit="microseconds", about="machine"),
    "C of prox_ltls and prox_ltl is timed up to chains of 50 links and trees of 45: longer functions take compilers "
    "minutes. Times are of the machine that the last column names.",
)
