"""Times of a Jacobian of calls in a row, as CasADi's virtual machine computes it by our derivatives.

20 explicit Euler steps of the velocity by aba, at one configuration. CasADi asks for one direction at a time, for four
(`directions=4`), or multiplies by the whole Jacobian of aba (`jac_penalty`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import casadi
import numpy as np
from casadi import MX, Function, jacobian, vertcat

import codegen
from codegen.cli.table import Cell, Table
from codegen.progress import each
from opcount.bench.race import pinned
from opcount.studies.study import Study
from opcount.studies.timed import machine, rounded

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from codegen.model import Model

ROBOTS = ("iiwa", "go1")
STEPS, STEP, READINGS = 20, 1e-3, 300


def ways(robot: Model) -> dict[str, Any]:
    """aba for CasADi, by what its derivatives are taken with."""
    singly: Any = codegen.to_casadi(robot, "aba")
    by_four = codegen.to_casadi(robot, "aba", directions=4)
    whole = casadi.external(singly.name(), singly.library, {"jac_penalty": 0.2})
    return {"one direction": singly, "four": by_four, "jac_penalty": whole}


def chained(aba: Any, robot: Model) -> Function:
    """The Jacobian of the last velocity by the first one and the joint forces."""
    q, start, tau = (MX.sym(name, size) for name, size in (("q", robot.nq), ("v", robot.nv), ("tau", robot.nv)))
    v = start
    for _ in range(STEPS):
        v = v + STEP * aba(q, v, tau)
    return Function("chained", [q, start, tau], [jacobian(v, vertcat(start, tau))])


def table(quick: bool = False, _executor: Executor | None = None) -> Table:
    """One row per robot: microseconds of the Jacobian by each way, by turns."""
    rows: list[tuple[Cell, ...]] = []
    names: list[str] = []
    for name in each(ROBOTS[: 1 if quick else None], str):
        robot = codegen.load(name)
        made = {way: chained(aba, robot) for way, aba in ways(robot).items()}
        names, state = [*made], robot.random(0)
        readings = np.empty((READINGS, len(made)))
        with pinned():
            for reading in readings:
                for k, function in enumerate(made.values()):
                    begun = time.perf_counter()
                    function(*state)
                    reading[k] = (time.perf_counter() - begun) * 1e6
        rows.append((name, *map(rounded, np.median(readings, axis=0)), machine(peer=False)))
    return Table(("robot", *names, "machine"), tuple(rows))


STUDY = Study("the Jacobian of 20 calls of aba in CasADi's virtual machine, microseconds", "", table, long=True)
