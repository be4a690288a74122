"""Largest errors of compiled constrained dynamics over random states of the papers' scenarios, by the dense oracle.

A state counts if it is regular: rows independent, the smallest eigenvalue of W not below the oracle's threshold. The
error of an output is relative to its largest entry at that state, the residual (what the rows still lack) to the
largest acceleration that the rows have without joint forces or accelerations. Proximal algorithms take five steps.
Stiff links round off in proportion to mu, and steps converge in proportion to 1 / mu: light robots want it smaller.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import codegen
from codegen.algorithms import ALGORITHMS, OPTIONAL, SOLUTION
from codegen.cli.table import Cell, Table
from codegen.model.contacts import contact_of
from codegen.oracle import constrained
from codegen.progress import each
from opcount.studies.measured import PAPER, Held
from opcount.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from codegen.model import Contact
    from codegen.robot import Robot

    Array = NDArray[np.float64]

STATES, STEPS, SEED = 1000, 5, 0
MU = {"solo12": 1e4}  # two kilograms; others take the default
SOLVERS = {name: entry for name, entry in ALGORITHMS.items() if entry.outputs == SOLUTION}
INDEPENDENT = tuple(name for name, entry in SOLVERS.items() if entry.independent == "rows")
DIRECT = (*INDEPENDENT, *(name for name, entry in ALGORITHMS.items() if entry.group == "delassus"))
PROXIMAL = tuple(name for name, entry in SOLVERS.items() if entry.iterates and "mu" in entry.inputs)
BOUND = {**dict.fromkeys(DIRECT, 1e-9), **dict.fromkeys(PROXIMAL, 1e-8)}
_FINGERS = tuple(f"{hand}_{finger}tip:3" for hand in ("lh", "rh") for finger in ("ff", "mf", "rf", "lf", "th"))


def _points(robot: str, feet: Sequence[str]) -> Held:
    """A robot on feet that are held by points."""
    return Held(robot, tuple(f"{foot}:3" for foot in feet))


def _fingers(n: int) -> Held:
    """Atlas with hands, on its feet and with so many fingertips held."""
    return Held("atlas_shadow", ("l_foot:6", "r_foot:6", *_FINGERS[:n]))


SCENARIOS: dict[str, Held] = {
    **{name: held for name, held in PAPER.items() if held.robot == "iiwa"},
    **{f"solo12 F3^{n}": _points("solo12", ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")[:n]) for n in (2, 4)},
    **{f"go1 F3^{n}": _points("go1", ("FL_foot", "FR_foot", "RL_foot", "RR_foot")[:n]) for n in (1, 2, 3, 4)},
    **{name: held for name, held in PAPER.items() if held.robot in ("talos", "atlas")},
    **{f"atlas_shadow F6^2 T3^{n}": _fingers(n) for n in (0, 5, 10)},
}
"""The scenarios of the papers, by the names that they have there."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Regular random states of a robot with contacts, stacked; the equations there and the accelerations by them.

    `irregular` counts the states left out; `redundant` tells that rows depend on others at every state.
    """

    robot: Robot
    contacts: tuple[Contact, ...]
    q: Array
    v: Array
    tau: Array
    at: tuple[constrained.Equations, ...]
    best: Array
    irregular: int
    redundant: bool

    @property
    def mu(self) -> float:
        """The penalty for this robot."""
        return MU.get(self.robot.name, OPTIONAL["mu"])


def drawn(held: Held, states: int) -> Drawn:
    """So many random states, less those that are not regular."""
    model = held.model()
    contacts, rng = tuple(contact_of(model, text) for text in held.contacts), np.random.default_rng(SEED)
    kept, ranks = [], []
    for _ in range(states):
        q, v, tau = model.random(rng)
        found = constrained.equations(model, q, v, contacts=contacts)
        rank, clear = constrained.rank(found)
        ranks.append(rank)
        if clear:
            kept.append((q, v, tau, found))
    q, v, tau = (np.array(column) for column in zip(*(state for *state, _ in kept), strict=True))
    at = tuple(equations for *_, equations in kept)
    none = np.zeros(len(at[0].J))
    best = np.array([constrained.solution(e, force, none, none)[0] for e, force in zip(at, tau, strict=True)])
    return Drawn(model, contacts, q, v, tau, at, best, states - len(kept), max(ranks) < len(none))


def errors(at: Drawn, algorithm: str) -> tuple[float, float | None]:
    """The largest error of the accelerations (of W, if that is what the algorithm finds) and the largest residual."""
    if "W" in ALGORITHMS[algorithm].outputs:
        W = codegen.build(at.robot, algorithm, contacts=at.contacts)(at.q)
        return _worst(W, np.array([constrained.delassus(e) for e in at.at])), None
    if algorithm in PROXIMAL:
        solve = codegen.build(at.robot, algorithm, contacts=at.contacts, iterations=STEPS, parameters=("mu",))
        a = solve(at.q, at.v, at.tau, np.full(len(at.q), at.mu))[0]
    else:
        a = codegen.build(at.robot, algorithm, contacts=at.contacts)(at.q, at.v, at.tau)[0]
    left = [np.abs(e.J @ x).max() / np.abs(e.drift).max() for e, x in zip(at.at, a - at.best, strict=True)]
    return _worst(a, at.best), max(left)


def table(
    states: int = STATES,
    names: Sequence[str] = tuple(SCENARIOS),
    algorithms: Sequence[str] = (*DIRECT, *PROXIMAL),
    executor: Executor | None = None,
) -> Table:
    """One row per scenario and algorithm; direct dynamics are left out where rows repeat others."""
    with ProcessPoolExecutor(os.cpu_count()) if executor is None else nullcontext(executor) as pool:
        found = pool.map(_rows, names, [states] * len(names), [tuple(algorithms)] * len(names))
        rows = [row for _, scenario in zip(each(names, str), found, strict=True) for row in scenario]
    return Table(("robot", "algorithm", "states", "irregular", "error", "residual", "bound", "met"), tuple(rows))


def _rows(name: str, states: int, algorithms: Sequence[str]) -> list[tuple[Cell, ...]]:
    at, rows = drawn(SCENARIOS[name], states), list[tuple[Cell, ...]]()
    for algorithm in algorithms:
        if at.redundant and algorithm in INDEPENDENT:
            continue
        error, residual = errors(at, algorithm)
        met = max(error, residual or 0.0) <= BOUND[algorithm]
        rows.append(
            (name, algorithm, len(at.q), at.irregular, error, residual, BOUND[algorithm], "yes" if met else "no")
        )
    return rows


def _worst(found: Array, expected: Array) -> float:
    """The largest error at any state over the largest entry there; infinite if there is a NaN."""
    if not np.isfinite(found).all():
        return math.inf
    axes = tuple(range(1, expected.ndim))
    return float((np.abs(found - expected).max(axis=axes) / np.abs(expected).max(axis=axes)).max())


STUDY = Study(
    "compiled constrained dynamics against the dense oracle, largest errors",
    "",
    lambda quick, executor: (
        table(10, tuple(SCENARIOS)[:1], ("pv", "pv_osim"), executor) if quick else table(executor=executor)
    ),
    long=True,
)
