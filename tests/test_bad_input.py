"""Bad input to functions and to solvers that call them: a status, or no numbers; no crash, and no endless loop."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import codegen
from codegen.errors import RobotError

ARM = "chain:2"
QUIET = {"print_time": False}
SOLVERS = {
    "ipopt": {"ipopt": {"print_level": 0, "sb": "yes", "max_iter": 100}},
    "fatrop": {"fatrop": {"print_level": 0, "max_iter": 100}},
    "sqpmethod": {"qpsol": "qrqp", "print_header": False, "print_iteration": False, "print_status": False}
    | {"max_iter": 30, "qpsol_options": {"print_iter": False, "print_header": False, "error_on_fail": False}},
}


def spoilt(robot: codegen.Model, count: int = 19) -> tuple[np.ndarray, ...]:
    """States of which every third has something that is no number."""
    rng = np.random.default_rng(0)
    states = tuple(np.array(x) for x in zip(*(robot.random(rng) for _ in range(count)), strict=True))
    for k in range(0, count, 3):
        states[k % 2][k, states[k % 2].shape[1] // 2] = np.nan
    return states


@pytest.mark.parametrize(("name", "algorithm"), [("iiwa", "rnea"), ("go1", "aba"), ("iiwa", "ltl")])
def test_states_that_are_no_numbers_spoil_no_others(name, algorithm):
    """One at a time and in a batch, whose lanes they share with sound ones."""
    robot = codegen.load(name)
    function, states = codegen.build(robot, algorithm), spoilt(robot)
    sound = [k for k in range(19) if k % 3]
    many = function(*states)
    for k in (0, *sound[:4]):
        one = function(*(x[k] for x in states))
        assert np.isfinite(one).all() == (k in sound)
        np.testing.assert_allclose(many[k], one, rtol=1e-9, atol=1e-9)
    assert np.isfinite(many[sound]).all()


def test_functions_on_contacts_end():
    """Those that iterate until a tolerance is met, too."""
    robot, contacts = codegen.load("solo12"), ["FL_FOOT:3", "HR_FOOT:3"]
    state = [np.full(n, np.nan) for n in (robot.nq, robot.nv, robot.nv)]
    with pytest.raises(codegen.SingularError):
        codegen.build(robot, "pv", contacts=contacts)(*state)
    endless = codegen.build(robot, "prox_pv", contacts=contacts, iterations=None)
    assert endless.with_status()(*state, 1e-9, 50)[-2] == 1  # iterations


def swing(solver: str, goal: float = 0.3, start: float = 0.0) -> tuple[ca.Opti, bool]:
    """Two hinges to an angle within 0.4 s by torques of at most 30 N m; and whether the solver found how."""
    f, opti = codegen.to_casadi(codegen.load(ARM), "aba"), ca.Opti()
    x, u = opti.variable(4, 9), opti.variable(2, 8)
    for k in range(8):
        opti.subject_to(x[:2, k + 1] == x[:2, k] + 0.05 * x[2:, k + 1])
        opti.subject_to(x[2:, k + 1] == x[2:, k] + 0.05 * f(x[:2, k], x[2:, k], u[:, k]))
        opti.subject_to(opti.bounded(-30, u[:, k], 30))
    opti.subject_to(x[:, 0] == 0)
    opti.subject_to(x[0, -1] == goal)
    opti.minimize(ca.sumsqr(u) + ca.sumsqr(x))
    opti.set_initial(x, start)
    opti.solver(solver, {**QUIET, **SOLVERS[solver]})
    try:
        opti.solve()
    except RuntimeError:
        return opti, False
    return opti, True


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_problem_without_a_solution(solver):
    """A goal that torques cannot reach, and a start where the function overflows, are statuses of the solver.

    fatrop does not end where functions overflow, those of CasADi's expressions neither.
    """
    assert swing(solver)[1]
    for options in ({"goal": 300.0}, *[{"start": 1e200}] * (solver != "fatrop")):
        opti, solved = swing(solver, **options)
        assert not solved
        assert not opti.stats()["success"]
        assert opti.stats()["return_status"]


CONIC = {
    "qrqp": {"print_iter": False, "print_header": False},
    "osqp": {"osqp": {"verbose": False}},
    "hpipm": {"N": 1, "nx": [4, 4], "nu": [2, 0], "ng": [0, 0]},
    "proxqp": {},
    "piqp": {},
    "daqp": {},
}


@pytest.mark.parametrize("solver", CONIC)
def test_quadratic_programs(solver):
    """One step of two hinges to rest: solved, and without a solution where torques are too small for it."""
    if not ca.has_conic(solver):
        pytest.skip(f"this CasADi has no {solver}")
    arm = codegen.load(ARM)
    q, v, tau, dt = np.array([0.1, 0.2]), np.array([0.5, -0.5]), np.zeros(2), 0.01
    by_state, by_force = codegen.build(arm, "step_derivatives")(q, v, tau, dt)[:2]
    rows = ca.horzcat(
        ca.DM(by_state), ca.DM(by_force), -ca.DM.eye(4)
    )  # of changes of the state, of torques, and of the next state
    v_next = codegen.build(arm, "step")(q, v, tau, dt).v_next
    weights = ca.DM.eye(10)
    shapes = {"h": weights.sparsity(), "a": rows.sparsity()}
    qp = ca.conic("qp", solver, shapes, {**QUIET, **CONIC[solver], "error_on_fail": False})
    free = np.full(10, np.inf)
    for limit, feasible in ((1e5, True), (1e-3, False)):
        low, high = -free, free.copy()
        low[:4] = high[:4] = 0
        low[4:6], high[4:6] = -limit, limit
        low[8:] = high[8:] = -v_next
        found = qp(h=weights, g=0, a=rows, lba=0, uba=0, lbx=low, ubx=high)
        assert qp.stats()["success"] == feasible
        assert qp.stats()["return_status"] is not None
        if feasible:
            wanted = np.linalg.solve(by_force[2:], -v_next)
            np.testing.assert_allclose(found["x"].full()[4:6, 0], wanted, rtol=1e-2)


def test_names_that_a_robot_does_not_have():
    robot = codegen.load("go1")
    for contact in ("tail:3", "FR_foot:9"):
        with pytest.raises(RobotError, match=r"tail|FR_foot"):
            codegen.build(robot, "pv", contacts=[contact])
        with pytest.raises(RobotError, match=r"tail|FR_foot"):
            codegen.to_casadi(robot, "pv", contacts=[contact])
    with pytest.raises(RobotError, match="tail"):
        codegen.build(robot, "rnea", external=("tail",))
    with pytest.raises(RobotError, match="tail"):
        robot.lock(["tail"])
