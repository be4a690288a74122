"""Dynamics in acados' Python interface: rigidc's C (`codegen.to_acados`) beside CasADi's of the same graph.

The peer is what users of acados have: the operations as emitted as an expression, which CasADi differentiates and
writes as C. Both solvers linearise one problem at the same random states, in turns, as real-time iterations do, and so
does one without dynamics, whose time is acados' own. acados tells the time (`time_lin`). The steps of both must agree.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

import codegen
from codegen.cli.table import Cell, Table
from codegen.errors import RobotError
from codegen.progress import doing, each, note, shown
from opcount.bench.contact_scenarios import SCENARIOS
from opcount.bench.race import pinned
from opcount.bench.solvers import chain, fresh

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]

ROWS = ("iiwa step", "iiwa step_rk4", "solo12 F3^4 pv_step")
"""Robots or robots with contacts, and steps of which dt is the only parameter."""

HESSIANS = {"GAUSS_NEWTON": 1, "EXACT": 2}
"""acados' names, and the order of derivatives that they want."""

NODES, STEP, TURNS = 20, 0.01, 25
NEAR = 1e-6  # relative to the largest entry
LONGEST = 100_000  # instructions of CasADi's that are compiled: more take many minutes
FLAGS = "-O2 -march=native"
HEADER = ("dynamics", "Hessian", "acados us", "rigidc us", "CasADi us", "times", "rigidc builds s", "CasADi s")


@dataclass(frozen=True, slots=True)
class Built:
    """A solver of acados', and the seconds that its model, its C and their compilation took."""

    label: str
    solver: Any
    seconds: float

    def __str__(self) -> str:
        return f"{self.label}: {self.seconds:.1f} s"


@shown()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench; 1 if steps disagree, 2 if there is nothing to run."""
    parser = argparse.ArgumentParser(prog="python -m opcount.bench.acados_models", description=__doc__)
    parser.add_argument("rows", nargs="*", default=ROWS, help=f"({', '.join(ROWS)})")
    args = parser.parse_args(argv)
    rows, wrong = list[tuple[Cell, ...]](), list[str]()
    try:
        with empty_folder():
            for row in each(args.rows, str):
                for hessian in HESSIANS:
                    cells, apart = raced(row, hessian)
                    rows.append((row, hessian, *cells))
                    wrong += [f"{row}, {hessian}: steps differ by {apart:.1g}"] * (apart > NEAR)
    except RobotError as error:
        note(f"bench: {error}")
        return 2
    print(Table(HEADER, tuple(rows)).text())
    print("\n".join([f"medians of {TURNS} linearisations by acados, per node of {NODES}; cc {FLAGS}", *wrong]))
    return 1 if wrong else 0


@contextmanager
def empty_folder() -> Iterator[None]:
    """Another current folder for a while: `to_acados` and acados write there."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def raced(row: str, hessian: str) -> tuple[tuple[Cell, ...], float]:
    """Microseconds of a node, their ratio and the seconds of building, and by how much steps differ."""
    what, _, algorithm = row.rpartition(" ")
    name, contacts = SCENARIOS.get(what, (what, None))
    robot, rng = codegen.load(name), np.random.default_rng(0)
    nothing, *solvers = made(robot, algorithm, contacts, hessian)
    times, apart = list[list[float]](), 0.0
    with pinned(), doing("linearising"):
        for turn in range(TURNS):
            x = [np.concatenate(robot.random(NODES * turn + k)[:2]) for k in range(NODES + 1)]
            u = rng.standard_normal((NODES, robot.nv))
            found = [linearised(one.solver, x, u) for one in (nothing, *solvers)]
            times.append([seconds for seconds, _ in found])
            (_, step), *others = found[1:]
            apart = max([apart, *(float(np.abs(other - step).max() / np.abs(step).max()) for _, other in others)])
    usual = [f"{1e6 * float(column) / NODES:.3g}" for column in np.median(times, 0)]
    seconds = [f"{one.seconds:.1f}" for one in solvers]
    if len(solvers) == 1:
        return (*usual, "", "", *seconds, ""), apart
    return (*usual, f"{np.median([b / a for _, a, b in times]):.1f}", *seconds), apart


def linearised(solver: Any, x: Sequence[Array], u: Array) -> tuple[float, Array]:
    """The seconds that a real-time iteration linearises here, and where its step ends."""
    for k, state in enumerate(x):
        solver.set(k, "x", state)
    for k, control in enumerate(u):
        solver.set(k, "u", control)
        solver.set(k, "pi", np.ones(len(x[0])))
    solver.set(0, "lbx", x[0])
    solver.set(0, "ubx", x[0])
    solver.solve()
    return float(solver.get_stats("time_lin")), np.concatenate([solver.get(k, "x") for k in range(len(x))])


def made(robot: Model, algorithm: str, contacts: Sequence[str] | None, hessian: str) -> tuple[Built, ...]:
    """Solvers: without dynamics, ours, and that of CasADi's C, if this is not too long."""
    begun, order = time.perf_counter(), HESSIANS[hessian]
    with fresh():
        model = codegen.to_acados(robot, algorithm, contacts=contacts, derivatives=order)
        ours = Built("rigidc", solver_of(model, hessian), time.perf_counter() - begun)
    still = expressed(model, "still", model.x + ca.vertcat(ca.SX(robot.nq, 1), model.u))
    found = Built("none", solver_of(still, hessian), 0.0), ours
    step = codegen.to_casadi(robot, algorithm, contacts=contacts, expand=True)
    if max(one.n_nodes() for one in chain(step, order)) > LONGEST:
        return found
    begun = time.perf_counter()
    ends = step(model.x[: robot.nq], model.x[robot.nq :], model.u, model.p)
    theirs = expressed(model, "casadi", ca.vertcat(*ends))
    return *found, Built("CasADi", solver_of(theirs, hessian), time.perf_counter() - begun)


def expressed(model: Any, name: str, x_next: ca.SX) -> Any:
    """A model of the same state, control and parameters, whose dynamics are an expression."""
    made = import_module("acados_template").AcadosModel()
    made.name, made.x, made.u, made.p = f"{model.name}_{name}", model.x, model.u, model.p
    made.disc_dyn_expr = x_next
    return made


def solver_of(model: Any, hessian: str) -> Any:
    """Real-time iterations of a problem whose cost is short."""
    acados = import_module("acados_template")
    problem = acados.AcadosOcp()
    nx, nu, options = model.x.numel(), model.u.numel(), problem.solver_options
    problem.model, problem.parameter_values = model, np.array([STEP])
    options.N_horizon, options.tf, options.integrator_type = NODES, NODES * STEP, "DISCRETE"
    options.nlp_solver_type, options.hessian_approx = "SQP_RTI", hessian
    options.regularize_method = "MIRROR" if hessian == "EXACT" else "NO_REGULARIZE"
    problem.code_gen_options.ext_fun_compile_flags = FLAGS
    problem.cost.cost_type = problem.cost.cost_type_e = "LINEAR_LS"
    problem.cost.W, problem.cost.W_e = np.eye(nx + nu), np.eye(nx)
    problem.cost.Vx, problem.cost.Vu, problem.cost.Vx_e = np.eye(nx + nu, nx), np.eye(nx + nu, nu, -nx), np.eye(nx)
    problem.cost.yref, problem.cost.yref_e, problem.constraints.x0 = np.zeros(nx + nu), np.zeros(nx), np.zeros(nx)
    with doing(f"acados compiles {model.name}"):
        return acados.AcadosOcpSolver(problem, verbose=False)


if __name__ == "__main__":
    sys.exit(main())
