"""Optimal control with what does not fit: a sentence or a status, and never a crash."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import pytest

import codegen
from codegen import ocp
from codegen.errors import RobotError

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("casadi", minversion="3.8")
pytest.importorskip("scipy")
FEET = ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
Q = ca.SX.sym("other", 2)


def stage() -> ocp.Stage:
    """One of two unknowns."""
    found = ocp.Stage()
    found.unknown("q", 2)
    found.unknown("v", 2)
    return found


def rnea(**options: Any) -> ca.Function:
    """Of two hinges."""
    return codegen.to_casadi(codegen.load("chain:2"), "rnea", **options)


def twice(method: str, *arguments: Any) -> None:
    found = stage()
    getattr(found, method)(*arguments)
    getattr(found, method)(*arguments)


def second(derivatives: int) -> ca.Function:
    found, q = stage(), ca.SX.zeros(2)
    found.bounded(-1, found.call(rnea(derivatives=derivatives), q + found.unknowns["q"], q, q), 1)
    return found.linearised("s", compile_c=False, exact=(0.1, 0.1))


def unknown_symbols() -> None:
    found = stage()
    found.zero(found.unknowns["q"] + Q)
    found.linearised("s", compile_c=False)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: stage().call(rnea(), ca.SX(3, 1), Q, Q), "takes q (2 x 1), v (2 x 1), a (2 x 1), not 3 x 1, 2 x 1"),
        (lambda: stage().call(rnea(expand=True), Q, Q), "rnea takes q (2 x 1), v (2 x 1), a (2 x 1), not 2 x 1, 2 x 1"),
        (lambda: stage().call(rnea(), Q, Q, 1.0), "not 2 x 1, 2 x 1, 1 x 1"),
        (lambda: stage().call(rnea(derivatives=0), Q, Q, Q), "has no derivatives; give `to_casadi` derivatives=1"),
        (lambda: second(1), "has no second derivatives; give `to_casadi` derivatives=2"),
        (lambda: twice("unknown", "x", 2), "'x' of size 2: a name that is not used yet"),
        (lambda: twice("parameter", "p", 2), "'p' of size 2: a name that is not used yet"),
        (lambda: stage().parameter("p", -1), "'p' of size -1"),
        (lambda: stage().moves("x", Q), "moves: 'x' is no unknown of 2 elements"),
        (lambda: stage().moves("q", ca.SX(3, 1)), "moves: 'q' is no unknown of 3 elements"),
        (lambda: twice("moves", "q", Q), "or is moved already"),
        (lambda: stage().bounded([1, 2, 3], Q, 5), "bounds: 3 are given for 2 rows"),
        (lambda: stage().bounded([0, 1], Q, [1, 0]), "bounds: [0, 1] must be below [1, 0]"),
        (lambda: stage().bounded(np.nan, Q, 1), "bounds: nan must be below 1"),
        (lambda: stage().bounded(np.inf, Q, np.inf), "bounds: inf must be below inf"),
        (lambda: stage().cost([1, 2, 3], Q), "weights: 3 are given for 2 rows"),
        (lambda: stage().cost([1, -2], Q), "weights: [1, -2]: finite numbers that are not negative"),
        (lambda: stage().cost(np.nan, Q), "weights: nan: finite numbers"),
        (unknown_symbols, "s: other_0, other_1 must be unknowns, parameters or results of calls of this stage"),
    ],
)
def test_stages(made: Callable[[], Any], said: str) -> None:
    with pytest.raises(RobotError, match=re.escape(said)):
        made()


def problem(nodes: Any = 3, known: int = 2, exact: Any = None, bounds: float | None = 1.0) -> ocp.Problem:
    """A mass on a line; without numbers for bounds they are parameters."""
    each, last = ocp.Stage(), ocp.Stage()
    (x, _), (u, _) = each.unknown("x", 2), each.unknown("u", 1)
    each.moves("x", x + 0.1 * ca.vertcat(x[1], u) + each.parameter("begin", 2))
    low = -bounds if bounds else each.parameter("low", 1)
    each.bounded(low, u, bounds or 1.0)
    each.cost(1.0, ca.vertcat(x, u))
    last.cost(1.0, last.unknown("x", 2)[0])
    return ocp.Problem(each, last, nodes, known, compile_c=False, exact=exact)


BEGIN = {"begin": np.zeros((3, 2))}


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: problem(nodes=0), "a problem needs a node"),
        (lambda: problem(nodes=2.5), "a problem needs a node"),
        (lambda: ocp.Problem(ocp.Stage(), ocp.Stage(), 2), "a problem needs a node, unknowns"),
        (lambda: problem(known=-1), "known=-1, but the state of node 0 has 2 increments"),
        (lambda: problem(known=3), "known=3, but the state of node 0 has 2 increments"),
        (lambda: problem(exact=(0.0, 1.0)), "a barrier and where it becomes a parabola are needed, both positive"),
        (lambda: problem(exact=(np.nan, 1.0)), "both positive"),
        (lambda: problem(exact=(1.0,)), "both positive"),
        (lambda: problem().increments(np.zeros(3)), "a solution has 9 numbers, not those of shape (3,)"),
        (lambda: problem().evaluated({"begin": np.full((3, 2), np.nan)}, {}), "begin: 3 x 2 finite numbers"),
        (lambda: ocp.Riccati(problem(exact=(0.1, 0.1)), 0.2, 0.1), "exact for barriers (0.1, 0.1); give these"),
        (lambda: ocp.Riccati(problem(5)).solve(problem().evaluated(BEGIN, {})), "numbers of another problem"),
        (lambda: ocp.Nonlinear(problem(), "ipopt", {"nonsense": 1}), "ipopt: No such IPOPT option: nonsense"),
    ],
)
def test_problems(made: Callable[[], Any], said: str) -> None:
    with pytest.raises(RobotError, match=re.escape(said)):
        made()


def test_numbers_that_are_not_numbers_have_a_status() -> None:
    whole = problem()
    linear = tuple({key: np.full_like(x, np.nan) for key, x in part.items()} for part in whole.evaluated(BEGIN, {}))
    found = ocp.Riccati(whole).solve(linear)  # type: ignore[arg-type]
    assert (found.solved, found.status) == (False, "no minimum")


@pytest.mark.parametrize("solver", ["fatrop", "ipopt"])
def test_bounds_that_cross_have_a_status(solver: str) -> None:
    nonlinear = ocp.Nonlinear(problem(bounds=None), solver)
    found = nonlinear.solve((BEGIN | {"low": np.full((3, 1), 2.0)}, {}))
    assert not found.solved
    assert "Ill-posed problem detected: LBG" in str(found)
    assert nonlinear.solve((BEGIN | {"low": np.full((3, 1), -2.0)}, {})).solved


@pytest.mark.parametrize("solver", ["fatrop", "ipopt"])
def test_a_start_that_overflows_has_a_status(solver: str) -> None:
    """fatrop would not end if it knew; what comes next is solved as before."""
    nonlinear = ocp.Nonlinear(problem(), solver)
    assert not nonlinear.solve(({"begin": np.full((3, 2), 1e200)}, {})).solved
    assert nonlinear.solve((BEGIN, {})).solved


def test_an_option_that_fatrop_does_not_have_is_its_status() -> None:
    found = ocp.Nonlinear(problem(), "fatrop", {"nonsense": 1}).solve((BEGIN, {}))
    assert (found.solved, found.status) == (False, "Fatrop option not supported: nonsense")


def test_gaits() -> None:
    robot = codegen.load("go1")
    leg = [body.joint.name for body in robot.bodies if body.joint.name.startswith("FR")]
    with pytest.raises(RobotError, match="'FR_foot' of go1 cannot move"):
        ocp.Gait.named("trot", robot.lock(leg), FEET)
    ocp.Gait.named("trot", robot.lock(leg[:2]), FEET)
    for options in ({"start": np.nan}, {"phases": (0.0, np.nan, 0.5, 0.0)}):
        with pytest.raises(RobotError, match="must be finite numbers"):
            ocp.Gait.named("trot", robot, FEET, **options)  # type: ignore[arg-type]


def test_states_that_are_not_numbers_stop_no_loop() -> None:
    """A function gives them on; the next state that is sound is solved for as before."""
    arm = codegen.load("chain:2")
    aba = codegen.to_casadi(arm, "aba")
    assert np.isnan(aba(np.full(2, np.nan), np.zeros(2), np.zeros(2)).full()).all()
    with pytest.raises(RuntimeError, match="mismatching shape"):
        aba(np.zeros(3), np.zeros(2), np.zeros(2))
    with pytest.raises(RobotError, match="no frame 'tail'"):
        codegen.to_casadi(codegen.load("go1"), "prox_pv", contacts=["tail"])
