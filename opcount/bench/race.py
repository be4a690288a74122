"""One race: who takes part, whether they agree, and how long each takes, turn by turn."""

from __future__ import annotations

import math
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.algorithms import ALGORITHMS
from opcount.bench.contact_scenarios import standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from codegen.model import Contact
    from codegen.robot import Robot

    Array = NDArray[np.float64]

SLICE = 200e3  # nanoseconds of one reading: short against the scheduler's ticks, long against the clock's
FEWEST = 21  # readings
AGREEMENT = 1e-9
AGREEMENT_HELD = 1e-5  # mu = 1e5 is added to inertias, and mu - mu^2 L leaves the damped inverse: these round off


@dataclass(frozen=True, slots=True, repr=False)
class Scenario:
    """An algorithm of a robot and the states to run it on: one array (states, width) per input.

    Contestants are compared by the first output of the algorithm, and take equal `iterations`.
    """

    model: Robot
    algorithm: str
    names: tuple[str, ...]
    inputs: tuple[Array, ...]
    contacts: tuple[Contact, ...] = ()
    iterations: int = 3

    def __repr__(self) -> str:
        return f"<Scenario {self.algorithm} of {self.model.name} on {self.states} states>"

    @property
    def states(self) -> int:
        return len(self.inputs[0])

    @property
    def rows(self) -> int:
        """Rows of all contacts."""
        return sum(len(contact.rows) for contact in self.contacts)

    @property
    def tolerance(self) -> float:
        """Up to where results agree: relative to the largest entry of a state's result."""
        return AGREEMENT_HELD if self.contacts else AGREEMENT

    @property
    def group(self) -> str:
        """Which algorithms it is one of: `common`, `constrained`, `delassus` or `damped`."""
        return ALGORITHMS[self.algorithm].group


def scenario(
    model: Robot,
    algorithm: str,
    names: tuple[str, ...],
    states: int,
    contacts: tuple[Contact, ...] = (),
    iterations: int = 3,
    seed: int = 0,
) -> Scenario:
    """Random states: q within the joint limits, all else of order one; equal arguments give equal states.

    With contacts, these stand still (`opcount.bench.contact_scenarios.standing`).
    """
    rng = np.random.default_rng(seed)
    rows = sum(len(contact.rows) for contact in contacts)
    columns = []
    for _ in range(states):
        others = {name: rng.standard_normal(rows if name == "b" else model.nv) for name in names if name != "q"}
        state = {"q": model.random(rng)[0], **others}
        if contacts:
            at = standing(model, contacts, rng)
            state.update({"q": at.q} | ({"v": at.v} if "v" in names else {}))
        columns.append([state[name] for name in names])
    inputs = tuple(np.stack(column) for column in zip(*columns, strict=True))
    return Scenario(model, algorithm, names, inputs, contacts, iterations)


@dataclass(frozen=True, slots=True, repr=False)
class Contestant:
    """A compiled function on the states of its scenario.

    `run(rounds)` makes that many passes over the states, after one that is not timed, and returns their
    nanoseconds; `states` is how many one pass evaluates; `results` are the outputs of the first states, one row
    each. `library` is the shared object that holds the code, where its size means something.
    """

    label: str
    run: Callable[[int], float]
    states: int
    results: Array
    library: str = ""
    symbol: str = ""

    def __repr__(self) -> str:
        return f"<Contestant {self.label}>"


@dataclass(frozen=True, slots=True)
class Spread:
    """Median, 10th and 90th percentile."""

    median: float
    p10: float
    p90: float

    def __str__(self) -> str:
        return f"{self.median:.4g} ({self.p10:.4g}..{self.p90:.4g})"


def spread(values: Array) -> Spread:
    """The spread of readings."""
    p10, median, p90 = np.percentile(values, [10, 50, 90])
    return Spread(float(median), float(p10), float(p90))


def disagreement(contestant: Contestant, reference: Contestant) -> float:
    """Largest deviation over the largest entry, state by state; infinite for a NaN or another shape."""
    a, b = contestant.results, reference.results
    rows = min(len(a), len(b))
    a, b = a[:rows], b[:rows]
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return math.inf
    return float((np.abs(a - b).max(axis=1) / np.abs(b).max(axis=1)).max())


def timed(contestants: Sequence[Contestant], seconds: float) -> Array:
    """Readings (repetitions, contestants) in nanoseconds per state.

    All take turns, one reading each; every round starts with another one.
    """
    rounds = [max(1, round(SLICE / max(c.run(3) / 3, 1.0))) for c in contestants]
    readings: list[list[float]] = []
    end = time.perf_counter() + seconds
    while len(readings) < FEWEST or time.perf_counter() < end:
        row = [0.0] * len(contestants)
        for k in range(len(contestants)):
            i = (k + len(readings)) % len(contestants)
            row[i] = contestants[i].run(rounds[i]) / (rounds[i] * contestants[i].states)
        readings.append(row)
    return np.array(readings)


@contextmanager
def pinned() -> Iterator[str]:
    """Keep this process on one core for a while; the sentence says which, or that it cannot be done."""
    if not hasattr(os, "sched_setaffinity"):
        yield "not pinned to a core: this system has no call for it"
        return
    before = os.sched_getaffinity(0)
    core = max(before)
    os.sched_setaffinity(0, {core})
    try:
        yield f"pinned to core {core} of {len(before)}"
    finally:
        os.sched_setaffinity(0, before)
