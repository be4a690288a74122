"""What every optional step of the lowering and every simplifying pass saves alone: each left out, all others in place.

Savings are percents of the operations as emitted with the idea left out. `lines` are those of the file that holds it.
Passes that arrange statements save no operations; they save time.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from codegen import api, passes
from codegen.cli.table import Cell, Table
from codegen.ir.counting import count
from codegen.ir.graph import Graph
from codegen.lowering import LOWERING
from codegen.passes import DEFAULT, ORDER, run
from codegen.progress import each
from codegen.tracing.trace import trace
from opcount.studies.measured import PAPER, Held
from opcount.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

Pass = Callable[[Graph], Graph]
Case = tuple[Held, str]

STEPS = tuple(step.name for step in LOWERING if step.plain)
PASSES = tuple(dict.fromkeys(step.__name__ for step in (*DEFAULT, *ORDER)))
ROBOTS = ("iiwa", "go1", "mini_cheetah", "tello_humanoid", "talos")
FREE = ("rnea", "crba", "aba", "minverse", "jacobian")
SCENARIOS = (
    *(PAPER[name] for name in ("iiwa H6", "go1 F3 x4", "talos F6^2")),
    Held("atlas", ("l_hand:6",)),
    Held("atlas", ("l_hand:6", "r_hand:6")),
)
HELD = ("pv", "pv_early", "constrained_aba", "prox_pv", "pv_osim", "pv_osimr", "efpa", "caba_osim")
CLOSED = (("four_bar", "project"), ("six_bar", "integrate"), ("cassie", "integrate"), ("tello_humanoid", "integrate"))
CASES: tuple[Case, ...] = (
    *((Held(robot, ()), algorithm) for robot in ROBOTS for algorithm in FREE),
    *((held, algorithm) for held in SCENARIOS for algorithm in HELD),
    *((Held(robot, ()), algorithm) for robot, algorithm in CLOSED),
)


def table(cases: Iterable[Case] = CASES, executor: Executor | None = None) -> Table:
    """One row per idea: lines, and percents that it saves at the median and at most, with where; how often it costs."""
    known = list(cases)
    with ProcessPoolExecutor(os.cpu_count()) if executor is None else nullcontext(executor) as pool:
        found = list(zip(each(known, _words), pool.map(without_each, known), strict=True))
    rows = [_row(idea, [(case, counts[idea], counts[""]) for case, counts in found]) for idea in (*STEPS, *PASSES)]
    return Table(("idea", "lines", "median %", "most %", "where", "costs in", "of"), tuple(rows))


def without_each(case: Case) -> dict[str, int]:
    """Operations as emitted by the idea that is left out; by "" those with all ideas."""
    held, algorithm = case
    task = api.task(held.model(), algorithm, contacts=held.contacts or None)
    graph = trace(task)
    counts = {"": count(run(graph)).total}
    for step in STEPS:
        other = trace(api.task(held.model(), algorithm, contacts=held.contacts or None, without=[step]))
        counts[step] = count(run(other)).total if other != graph else counts[""]
    for name in PASSES:
        counts[name] = count(run(graph, _but(name, DEFAULT), _but(name, ORDER))).total
    return counts


def _but(name: str, steps: Sequence[Pass]) -> tuple[Pass, ...]:
    return tuple(step for step in steps if step.__name__ != name)


def _row(idea: str, found: Sequence[tuple[Case, int, int]]) -> tuple[Cell, ...]:
    """What an idea saves in the cases, of which each has its operations without the idea and with it."""
    saved = [(100.0 * (without - whole) / without, case) for case, without, whole in found]
    most, (held, algorithm) = max(saved, key=lambda one: one[0])
    where = f"{algorithm} of {held}" if most > 0.0 else None
    costs = sum(percent < 0.0 for percent, _ in saved)
    middle = median(percent for percent, _ in saved)
    return idea, _lines(idea), round(middle, 1), round(most, 1), where, costs, len(saved)


def _lines(idea: str) -> int:
    """The lines of the file that holds an idea."""
    step = next((step.run for step in LOWERING if step.name == idea), None) or getattr(passes, idea)
    return len(Path(inspect.getsourcefile(step) or "").read_text(encoding="utf-8").splitlines())


def _words(case: Case) -> str:
    return f"{case[1]} of {case[0]}"


STUDY = Study(
    "what every lowering step and pass saves alone",
    "",
    lambda quick, executor: table(CASES[: 2 if quick else None], executor),
    long=True,
)
