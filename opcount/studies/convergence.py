"""What a redundantly held Talos still lacks after every proximal step (2024 paper, Fig. 4).

Both feet and one hand are held by 6D contacts, both elbows by points: 24 rows, mu = 1e6, random states. The residual is
the largest deviation of any row from its wanted acceleration, less what no accelerations could make up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.cli.table import Cell, Table
from codegen.ir.interpreter import interpret
from codegen.model.contacts import contact_of
from codegen.oracle import constrained
from codegen.progress import each
from codegen.tracing.task import Task
from codegen.tracing.trace import trace
from opcount.store import opened
from opcount.studies.drawing import SMALL, WORDS, canvas
from opcount.studies.measured import Held, digest
from opcount.studies.study import Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

TALOS = Held(
    "talos",
    ("left_sole_link:6", "right_sole_link:6", "wrist_left_ft_tool_link:6", "arm_left_4_link:3", "arm_right_4_link:3"),
)
ALGORITHMS = ("prox_ltl", "prox_pv", "prox_ltls", "constrained_aba")
MU, STEPS, STATES = 1e6, 10, 1000
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def table(
    states: int = STATES, steps: Sequence[int] = range(1, STEPS + 1), algorithms: Sequence[str] = ALGORITHMS
) -> Table:
    """One row per algorithm and number of steps: quantiles of the residual (m/s^2, rad/s^2) over the states."""
    what = f"convergence {digest(TALOS)} {TALOS.contacts!r} {MU} {QUANTILES!r} {states} {[*steps]!r} {[*algorithms]!r}"
    rows = opened().made(what, lambda: residuals(states, steps, algorithms))
    return Table(("algorithm", "steps", *(f"residual p{round(100 * x)}" for x in QUANTILES)), tuple(map(tuple, rows)))


def residuals(states: int, steps: Sequence[int], algorithms: Sequence[str]) -> list[tuple[Cell, ...]]:
    """The rows of the table."""
    model = TALOS.model()
    contacts = tuple(contact_of(model, text) for text in TALOS.contacts)
    rng = np.random.default_rng(0)
    drawn = [model.random(rng) for _ in each(range(states), lambda _: "states drawn")]
    q, v, tau = (np.array(column) for column in zip(*drawn, strict=True))
    none = np.zeros(sum(len(contact.rows) for contact in contacts))
    at = [constrained.equations(model, *state[:2], contacts=contacts) for state in each(drawn, lambda _: "states")]
    best = [e.J @ constrained.solution(e, t, none, none)[0] for e, t in zip(at, tau, strict=True)]
    rows: list[tuple[Cell, ...]] = []
    work = [(algorithm, n) for algorithm in algorithms for n in steps]
    for algorithm, n in each(work, lambda pair: f"{pair[0]}, steps: {pair[1]}"):
        graph = trace(Task(model, algorithm, parameters=("mu",), contacts=contacts, iterations=n))
        a = interpret(graph, q, v, tau, np.full(states, MU))[0]
        left = [np.abs(e.J @ x - y).max() for e, x, y in zip(at, a, best, strict=True)]
        rows.append((algorithm, n, *(float(x) for x in np.quantile(left, QUANTILES))))
    return rows


def figure(drawn: Table) -> Figure:
    """A panel per algorithm: boxes from the 25th to the 75th percentile, whiskers from the 5th to the 95th."""
    names = [*dict.fromkeys(str(row[0]) for row in drawn.rows)]
    whole = canvas(2.0 * len(names) + 0.6, 3.0)
    for name, ax in zip(names, whole.subplots(1, len(names), squeeze=False, sharey=True)[0], strict=True):
        boxes = [
            {"label": row[1], **dict(zip(("whislo", "q1", "med", "q3", "whishi"), row[2:], strict=True))}
            for row in drawn.rows
            if row[0] == name
        ]
        ax.bxp(boxes, showfliers=False, medianprops={"color": "black"}, widths=0.6)
        ax.set_yscale("log")
        ax.set_title(name, loc="left", fontsize=WORDS, fontweight="bold")
        ax.set_xlabel("proximal steps", fontsize=WORDS)
        ax.tick_params(labelsize=SMALL)
        ax.grid(axis="y", color="0.9", linewidth=0.5)
        ax.spines[["top", "right"]].set_visible(False)
        ax.label_outer()
    whole.supylabel("residual (m/s², rad/s²)", fontsize=WORDS)
    return whole


STUDY = Study(
    "a redundantly held Talos: what is left after every proximal step",
    "constrained ABA 2024, Fig. 4",
    lambda quick, executor: table(20, range(1, 4)) if quick else table(),
    figure,
)
