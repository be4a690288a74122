"""Times on geared and belt-driven chains against their length (Chignoli et al. 2023, Figs. 11 and 13).

Compiled C of the listings and of ours, all of one chain in one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.cli.table import Cell, Table
from opcount.studies.drawing import Growth
from opcount.studies.grown import fitted
from opcount.studies.loop_growth import ALGORITHMS, belted, geared
from opcount.studies.loop_timings import SIDES
from opcount.studies.measured import exponent
from opcount.studies.study import Study
from opcount.studies.timed import Timing, compiled, machine, rounded, run

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from opcount.studies.measured import Held

LENGTHS = (2, 4, 8, 12, 16)


@dataclass(frozen=True, slots=True)
class TimedChains:
    """Chains by names, each made of its length; makes the table of times. Quick is the first at two lengths."""

    chains: Mapping[str, Callable[[int], Held]]
    lengths: Sequence[int] = LENGTHS
    algorithms: Sequence[str] = ALGORITHMS

    def __call__(self, quick: bool = False, _executor: Executor | None = None) -> Table:
        """One row per chain, algorithm and length: microseconds; exponents stand at the largest."""
        chains = dict([*self.chains.items()][: 1 if quick else None])
        lengths = self.lengths[: 2 if quick else None]
        ours = {(name, n): self._own(make(n)) for name, make in chains.items() for n in lengths}
        made = compiled([one for timings in ours.values() for one in timings.values()])
        times = {key: run(timings, made, {}) for key, timings in ours.items()}
        rows: list[tuple[Cell, ...]] = []
        for name in chains:
            for algorithm in self.algorithms:
                known = {side: {n: times[name, n][f"{side} {algorithm}"] for n in lengths} for side in SIDES}
                fits = [fitted(known[side], exponent) for side in SIDES]
                for n in lengths:
                    grown = fits if n == lengths[-1] else [None] * len(SIDES)
                    rows.append(
                        (name, algorithm, n, *(rounded(known[side][n]) for side in SIDES), *grown, machine(peer=False))
                    )
        exponents = (f"{side} exponent" for side in SIDES)
        return Table(("mechanism", "algorithm", "links", *SIDES, *exponents, "machine"), tuple(rows))

    def _own(self, held: Held) -> dict[str, Timing]:
        return {f"{side} {name}": Timing(held, name, side) for side in SIDES for name in self.algorithms}


STUDY = Study(
    "times on geared and belt-driven chains of 2 to 16 links",
    "Chignoli et al. 2023, Figs. 11, 13",
    TimedChains({"geared chain": geared, "belt chain": belted}),
    Growth("links", unit="microseconds", about="machine"),
    "The paper's chains have up to 24 links. Times are of the machine that the last column names.",
)
