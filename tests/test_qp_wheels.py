"""Wheels of solvers take our quadratic programs: all find a solution, and say what has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import codegen
from codegen import ocp
from codegen.ocp.problem import Quadratic

if TYPE_CHECKING:
    from collections.abc import Callable

    Found = tuple[np.ndarray | None, str]

sparse = pytest.importorskip("scipy.sparse")
pytest.importorskip("casadi", minversion="3.8")
H, NODES, LIMIT = 0.05, 6, 3.0


def by_osqp(qp: Quadratic) -> Found:
    solver = pytest.importorskip("osqp").OSQP()
    rows, low, up = sparse.vstack([qp.A, qp.G]), np.append(qp.b, qp.lower), np.append(qp.b, qp.upper)
    settings: dict[str, Any] = {
        "verbose": False,
        "eps_abs": 1e-9,
        "eps_rel": 1e-9,
        "max_iter": 20_000,
        "polishing": True,
    }
    solver.setup(qp.P, qp.c, sparse.csc_matrix(rows), low, up, **settings)
    found = solver.solve(raise_error=False)
    return (found.x if found.info.status == "solved" else None), found.info.status


def by_proxqp(qp: Quadratic) -> Found:
    proxqp = pytest.importorskip("proxsuite").proxqp
    solver = proxqp.sparse.QP(qp.c.size, qp.b.size, qp.lower.size)
    solver.settings.eps_abs, solver.settings.eps_rel = 1e-9, 0.0
    solver.init(qp.P + sparse.triu(qp.P, 1).T, qp.c, qp.A, qp.b, qp.G, qp.lower, qp.upper)
    solver.solve()
    status = solver.results.info.status
    return (solver.results.x if status == proxqp.QPSolverOutput.PROXQP_SOLVED else None), status.name


def by_piqp(qp: Quadratic) -> Found:
    pytest.importorskip("piqp")
    found = ocp.Piqp(1e-9).solve(qp)
    return (found.x if found.solved else None), found.status


def by_clarabel(qp: Quadratic) -> Found:
    clarabel = pytest.importorskip("clarabel")
    rows = sparse.csc_matrix(sparse.vstack([qp.A, qp.G, -qp.G]))
    cones = [clarabel.ZeroConeT(qp.b.size), clarabel.NonnegativeConeT(2 * qp.lower.size)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    right = np.concatenate([qp.b, qp.upper, -qp.lower])
    found = clarabel.DefaultSolver(qp.P, qp.c, rows, right, cones, settings).solve()
    return (np.array(found.x) if str(found.status) == "Solved" else None), str(found.status)


SOLVERS: dict[str, Callable[[Quadratic], Found]]
SOLVERS = {"osqp": by_osqp, "proxqp": by_proxqp, "piqp": by_piqp, "clarabel": by_clarabel}


def step() -> Quadratic:
    """A step of an SQP method: two hinges swing to another angle, with torques at their limits."""
    arm = codegen.load("chain:2")
    rnea, stage, last = codegen.to_casadi(arm, "rnea", expand=True), ocp.Stage(), ocp.Stage()
    q, v, a = (stage.parameter(x, 2) + stage.unknown(f"d{x}", 2)[0] for x in ("q", "v", "a"))
    stage.moves("dq", q + H * v + H**2 / 2 * a - stage.parameter("q_next", 2))
    stage.moves("dv", v + H * a - stage.parameter("v_next", 2))
    stage.bounded(-1, stage.call(rnea, q, v, a) / LIMIT, 1)
    stage.cost(1e-3, a)
    last.cost(100.0, last.parameter("q", 2) + last.unknown("dq", 2)[0] - np.array([1.0, -0.5]))
    last.cost(1.0, last.parameter("v", 2) + last.unknown("dv", 2)[0])
    problem = ocp.Problem(stage, last, NODES, known=4, compile_c=False)
    rest = np.zeros((NODES, 2))
    return problem.quadratic(dict.fromkeys(("q", "v", "a", "q_next", "v_next"), rest), {"q": rest[:1], "v": rest[:1]})


def impossible(qp: Quadratic) -> Quadratic:
    """The same with a torque beyond its limit."""
    A, b = sparse.csc_matrix(sparse.vstack([qp.A, qp.G[:1]])), np.append(qp.b, qp.upper[0] + 1.0)
    return Quadratic(qp.P, qp.c, A, b, qp.G, qp.lower, qp.upper)


@pytest.mark.parametrize("solver", SOLVERS)
def test_solutions_are_those_of_the_conditions_of_optimality(solver: str) -> None:
    """At the rows that are active, the gradient is a combination of their normals, with the right signs."""
    qp = step()
    x, status = SOLVERS[solver](qp)
    assert x is not None, status
    slack = np.minimum(qp.G @ x - qp.lower, qp.upper - qp.G @ x)
    assert np.abs(qp.A @ x - qp.b).max() < 1e-6
    assert slack.min() > -1e-6
    active = np.flatnonzero(slack < 1e-5)
    assert active.size
    outward = np.where(qp.upper - qp.G @ x < 1e-5, 1.0, -1.0)[active]
    normals = sparse.vstack([qp.A, sparse.diags(outward) @ qp.G[active]]).T.toarray()
    gradient = qp.P @ x + sparse.triu(qp.P, 1).T @ x + qp.c
    multipliers, *_ = np.linalg.lstsq(normals, -gradient, rcond=None)
    assert np.abs(normals @ multipliers + gradient).max() < 1e-4
    assert multipliers[qp.b.size :].min() > -1e-4


@pytest.mark.parametrize("solver", SOLVERS)
def test_programs_without_a_solution_have_a_status(solver: str) -> None:
    x, status = SOLVERS[solver](impossible(step()))
    assert x is None
    assert status
