"""Optimal control: schedules, manifolds, exact derivatives of stages, and the quadratic programs made of them."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from mechanisms_cases import mechanism

import codegen
from codegen import ocp
from codegen.errors import BuildError, RobotError

pytest.importorskip("casadi", minversion="3.8")
pytest.importorskip("scipy")
FEET = ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
H = 0.02
NEAR = 1e-9


@cache
def hopper() -> codegen.Model:
    """A small robot with a floating base."""
    return mechanism(("revolute",), 3, base="floating", convention="mujoco")


def test_a_gait_lifts_feet_and_puts_them_down() -> None:
    gait = ocp.Gait.named("trot", codegen.load("go1"), FEET, period=0.5, clearance=0.1, start=0.2)
    times = np.linspace(0.0, 2.0, 4001)
    held, height, rate = gait.held(times), gait.height(times), gait.rate(times)
    assert held.shape == height.shape == rate.shape == (4001, 4)
    assert held[times < 0.2].all()
    assert (held[:, 0] == held[:, 3]).all()
    assert (held[:, 1] == held[:, 2]).all()
    assert np.mean(held[(times >= 0.2) & (times < 1.7)], axis=0) == pytest.approx(0.6, abs=0.01)
    assert not height[held].any()
    assert height.max() == pytest.approx(0.1, abs=1e-6)
    differences = np.gradient(height, times, axis=0)
    assert np.abs(differences - rate)[5:-5].max() < 0.02
    assert (gait.held(times[:5]) == held[:5]).all()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"feet": FEET[:3]}, "4 phases"),
        ({"feet": (*FEET[:3], FEET[0])}, "phases for the feet"),
        ({"period": 0.0}, "period > 0"),
        ({"duty": 1.5}, "duty"),
        ({"feet": (*FEET[:3], "tail")}, "no frame 'tail'"),
        ({"name": "gallop"}, "choose one of"),
    ],
)
def test_a_gait_that_cannot_be(options: dict[str, object], word: str) -> None:
    given = {"name": "trot", "robot": codegen.load("go1"), "feet": FEET, **options}
    with pytest.raises(RobotError, match=word):
        ocp.Gait.named(**given)


def test_feet_that_cannot_move() -> None:
    arm = codegen.load("iiwa").lock_all_but("lbr_iiwa_joint_7")
    still = next(frame.name for frame in arm.frames if frame.body < 0)
    with pytest.raises(RobotError, match="cannot move"):
        ocp.Gait.named("stand", arm, (still, still, still, still))


def test_states_move_on_the_manifold() -> None:
    robot = hopper()
    states, rng = ocp.States(robot), np.random.default_rng(4)
    q, dq, v = robot.random(rng)[0], 0.3 * rng.standard_normal((5, robot.nv)), rng.standard_normal((5, robot.nv))
    trajectory = states.moved(np.tile(q, (5, 1)), dq)
    np.testing.assert_allclose(np.linalg.norm(trajectory[:, 3:7], axis=1), 1.0, atol=NEAR)
    np.testing.assert_allclose(states.difference(np.tile(q, (5, 1)), trajectory), dq, atol=NEAR)
    np.testing.assert_allclose(states.between(q, trajectory[0], 1.0), trajectory[0], atol=NEAR)
    later, faster = states.later(trajectory, v, 0.25)
    away = states.difference(trajectory, later)
    np.testing.assert_allclose(away[:-1], 0.25 * states.difference(trajectory[:-1], trajectory[1:]), atol=NEAR)
    np.testing.assert_allclose(faster, v + 0.25 * (np.vstack([v[1:], v[-1:]]) - v), atol=NEAR)


def written(robot: codegen.Model, *, expand: bool) -> ocp.Stage:
    """A stage that calls functions of functions' results."""
    nq, nv, frame = robot.nq, robot.nv, robot.frames[-1].name

    def of(name: str, **options: object) -> ca.Function:
        return codegen.to_casadi(robot, name, derivatives=1, expand=expand, **options)

    stage = ocp.Stage()
    (dq, dq_next), (dv, dv_next) = stage.unknown("dq", nv), stage.unknown("dv", nv)
    q = stage.call(of("integrate"), stage.parameter("q", nq), dq)
    v, v_next = stage.parameter("v", nv) + dv, stage.parameter("v_next", nv) + dv_next
    df, _ = stage.unknown("df", 3)
    f, a = stage.parameter("f", 3) + df, (v_next - v) / H
    _, rotation, velocity = stage.call(of("fk", frames=(frame,)), q, v)
    tau = stage.call(of("rnea", external=(frame,)), q, v, a, ca.horzcat((rotation.T @ f).T, ca.SX(1, 3)))
    end = stage.call(of("integrate"), q, H * (v + v_next) / 2)
    stage.zero(stage.call(of("difference"), stage.parameter("q_next", nq), end) - dq_next, tau[:6])
    stage.bounded(-1.0, tau[6:], np.inf)
    stage.bounded(0.0, 0.5 * f[2] - f[:2], 10.0)
    stage.cost([1.0, 2.0, 3.0], velocity[0, :3])
    stage.cost(0.1, ca.vertcat(dq, v))
    return stage


def numbers(robot: codegen.Model, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Parameters of this stage."""
    (q, v, _), f = robot.random(rng), rng.standard_normal(3)
    q_next = ocp.States(robot).moved(q, 0.1 * rng.standard_normal(robot.nv))
    return {"q": q, "v": v, "v_next": v + rng.standard_normal(robot.nv), "f": f, "q_next": q_next}


def test_derivatives_of_a_stage_are_exact() -> None:
    """Against CasADi's own AD of the same operations, and against differences of the rows."""
    robot, rng = hopper(), np.random.default_rng(5)
    ours, peer = (written(robot, expand=expand) for expand in (False, True))
    given = numbers(robot, rng)
    found = ours.linearised("ours", compile_c=False)(**given)
    expected = peer.linearised("peer", compile_c=False)(**given)
    assert len(ours.calls) == 5
    assert not peer.calls
    for name, value in expected.items():
        np.testing.assert_allclose(found[name].full(), value.full(), rtol=1e-9, atol=1e-8, err_msg=name)
    unknowns = ca.vertcat(*peer.unknowns.values(), *peer.following.values())
    rows = ca.Function("rows", [unknowns, *peer.parameters.values()], [ca.vertcat(*peer.zero_rows)])
    ways = 1e-6 * np.eye(unknowns.numel())
    up, down = (np.hstack([rows(sign * way, *given.values()).full() for way in ways]) for sign in (1, -1))
    np.testing.assert_allclose(found["zero_by"].full(), (up - down) / 2e-6, atol=1e-4)
    residual = ca.Function("r", [unknowns, *peer.parameters.values()], [ca.sumsqr(ca.vertcat(*peer.residuals)) / 2])
    cost = [[float(residual(sign * way, *given.values())) for way in ways] for sign in (1, -1)]
    np.testing.assert_allclose(found["gradient"].full().ravel(), np.subtract(*cost) / 2e-6, atol=1e-4)


def linear(nodes: int) -> ocp.Problem:
    """A mass on a line, with a bound on its force."""
    stage, last = ocp.Stage(), ocp.Stage()
    (x, x_next), (u, _) = stage.unknown("x", 2), stage.unknown("u", 1)
    stage.zero(x + 0.1 * ca.vertcat(x[1], u) + stage.parameter("begin", 2) - x_next)
    stage.bounded(-1.0, u, 1.0)
    stage.cost([1.0, 0.1], x)
    stage.cost(0.01, u)
    last.cost(10.0, last.unknown("x", 2)[0])
    return ocp.Problem(stage, last, nodes, known=2, compile_c=False)


def test_a_problem_of_many_nodes() -> None:
    """The quadratic program against matrices that are written here, and its solution against its conditions."""
    pytest.importorskip("piqp")
    nodes = 30
    problem, begin = linear(nodes), np.zeros((nodes, 2))
    begin[0] = 1.0, 0.0
    qp = problem.quadratic({"begin": begin}, {})
    assert str(qp) == "QP: 90 unknowns, 60 equalities, 30 bounded rows"
    weights = np.r_[0.01, np.tile([1.0, 0.1, 0.01], nodes - 1), 10.0, 10.0]
    np.testing.assert_allclose(qp.P.toarray(), np.diag(weights))
    A = np.zeros((60, 92))
    for k in range(nodes):
        A[2 * k : 2 * k + 2, 3 * k : 3 * k + 5] = [[1, 0.1, 0, -1, 0], [0, 1, 0.1, 0, -1]]
    np.testing.assert_allclose(qp.A.toarray(), A[:, 2:])
    found = ocp.Piqp(1e-9).solve(qp)
    assert found.solved, found
    x, u = problem.increments(found.x).values()
    state = np.array([1.0, 0.0])
    for k in range(nodes):
        state = state + 0.1 * np.array([state[1], u[k, 0]])
        np.testing.assert_allclose(x[k + 1], state, atol=1e-6)
    assert abs(u).max() == pytest.approx(1.0, abs=1e-6)
    slack = (qp.upper - qp.G @ found.x > 1e-6) & (qp.G @ found.x - qp.lower > 1e-6)
    free = np.vstack([qp.A.toarray(), qp.G.toarray()[~slack]])
    left = qp.P.toarray() @ found.x + qp.c
    assert np.abs(left - free.T @ np.linalg.lstsq(free.T, left, rcond=None)[0]).max() < 1e-6


def test_numbers_that_do_not_fit() -> None:
    problem = linear(3)
    with pytest.raises(RobotError, match="3 x 2 finite numbers"):
        problem.quadratic({"begin": np.zeros((2, 2))}, {})
    with pytest.raises(RobotError, match="3 x 2 finite numbers"):
        problem.quadratic({"begin": np.full((3, 2), np.nan)}, {})
    with pytest.raises(RobotError, match="give numbers for begin"):
        problem.quadratic({}, {})
    stage, last = ocp.Stage(), ocp.Stage()
    stage.unknown("x", 2)
    last.unknown("x", 3)
    with pytest.raises(RobotError, match="last stage"):
        ocp.Problem(stage, last, 3)


def test_an_infeasible_problem_has_a_status() -> None:
    pytest.importorskip("piqp")
    problem = linear(3)
    qp = problem.quadratic({"begin": np.ones((3, 2))}, {})
    qp.lower[:], qp.upper[:] = 2.0, -2.0
    found = ocp.Piqp().solve(qp)
    assert not found.solved
    assert "PIQP" in str(found)


def test_a_missing_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "piqp", None)
    with pytest.raises(BuildError, match=r"pip install rigidc\[mpc\]"):
        ocp.Piqp()
