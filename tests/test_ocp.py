"""Optimal control: schedules, manifolds, exact derivatives of stages, and the quadratic programs made of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from mechanisms_cases import mechanism

import codegen
from codegen import ocp
from codegen.errors import BuildError, RobotError
from codegen.oracle import ORACLE

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


def written(robot: codegen.Model, **how: object) -> ocp.Stage:
    """A stage that calls functions of functions' results."""
    nq, nv, frame = robot.nq, robot.nv, robot.frames[-1].name

    def of(name: str, **options: object) -> ca.Function:
        return codegen.to_casadi(robot, name, **how, **options)

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


@pytest.mark.parametrize("expand", [False, True])
def test_derivatives_of_a_stage_are_exact(expand: bool) -> None:
    """Against CasADi's own AD of the same operations, and against differences of the rows."""
    robot, rng = hopper(), np.random.default_rng(5)
    ours, peer = written(robot, derivatives=1, expand=expand), written(robot, expand=True)
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


def test_nodes_in_lanes() -> None:
    """Against CasADi's virtual machine; where there is no bound, it is far away."""
    robot, rng, nodes = hopper(), np.random.default_rng(6), 11
    stage, last = written(robot, derivatives=1, expand=True), ocp.Stage()
    for name in ("dq", "dv"):
        last.cost(1.0, last.parameter(f"{name}_wanted", robot.nv) - last.unknown(name, robot.nv)[0])
    each = [numbers(robot, rng) for _ in range(nodes)]
    wanted = {"dq_wanted": np.ones((1, robot.nv)), "dv_wanted": np.ones((1, robot.nv))}
    given = {name: np.array([one[name] for one in each]) for name in each[0]}, wanted
    ours, peer = (ocp.Problem(stage, last, nodes, compile_c=False, lanes=lanes) for lanes in (True, False))
    for found, expected in zip(ours.evaluated(*given), peer.evaluated(*given), strict=True):
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], np.clip(value, -1e30, 1e30), rtol=1e-9, atol=1e-8, err_msg=name)
    with pytest.raises(RobotError, match="11 x 3 finite numbers"):
        ours.evaluated({**given[0], "f": np.full((nodes, 3), np.inf)}, given[1])
    with pytest.raises(RobotError, match="expand=True"):
        ocp.Problem(written(robot, derivatives=1), last, nodes, lanes=True)


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


def free_and_moved(
    nodes: int, *, bounds: float, sizes: tuple[int, int, int] = (3, 2, 4)
) -> tuple[ocp.Problem, dict[str, np.ndarray]]:
    """A linear problem of random numbers, with states that are moved and that are free, and its parameters."""
    rng, stage, last = np.random.default_rng(3), ocp.Stage(), ocp.Stage()
    moved, free, inputs = sizes
    (p, _), (v, v_next) = stage.unknown("p", moved), stage.unknown("v", free)
    u, _ = stage.unknown("u", inputs)
    unknowns = ca.vertcat(p, v, v_next, u)

    def mixed(rows: int) -> ca.SX:
        return ca.DM(rng.standard_normal((rows, unknowns.numel()))) @ unknowns

    stage.moves("p", mixed(moved) + stage.parameter("drift", moved))
    stage.zero(mixed(2) + stage.parameter("wanted", 2))
    stage.bounded(-bounds, mixed(3), np.inf)
    stage.bounded(-bounds, ca.vertcat(u, p[0] - u[2] + 2 * v_next[-1]), bounds)
    stage.cost(1.0, unknowns + 0.3)
    stage.cost(2.0, mixed(3) - 1.0)
    last.cost(3.0, ca.vertcat(last.unknown("p", moved)[0], last.unknown("v", free)[0]) + 0.2)
    problem = ocp.Problem(stage, last, nodes, known=moved + free, compile_c=False)
    return problem, {"drift": rng.standard_normal((nodes, moved)), "wanted": rng.standard_normal((nodes, 2))}


@pytest.mark.parametrize(
    ("bounds", "sizes"), [(0.03, (3, 2, 4)), (0.5, (3, 2, 4)), (np.inf, (3, 2, 4)), (0.5, (11, 6, 9)), (0.5, (4, 1, 3))]
)
def test_a_riccati_step_is_the_newton_step(bounds: float, sizes: tuple[int, int, int]) -> None:
    """Against the dense equations of the same cost with its barriers; 0.03 is where these are parabolas."""
    problem, each = free_and_moved(7, bounds=bounds, sizes=sizes)
    barrier, near = 0.1, 0.05
    found = ocp.Riccati(problem, barrier, near).solve(problem.evaluated(each, {}))
    qp = problem.quadratic(each, {})
    P, G, A, c = qp.P.toarray(), qp.G.toarray(), qp.A.toarray(), qp.c.copy()
    P += np.triu(P, 1).T
    for slack, sign in ((-qp.lower, 1.0), (qp.upper, -1.0)):
        far = np.maximum(slack, near)
        first = np.where(slack > near, -barrier / far, barrier * (np.minimum(slack, near) - 2 * near) / near**2)
        P += G.T @ np.diag(barrier / far**2) @ G
        c += sign * G.T @ first
    K = np.block([[P, A.T], [A, np.zeros((A.shape[0], A.shape[0]))]])
    expected = np.linalg.solve(K, np.r_[-c, qp.b])[: c.size]
    assert found.solved
    np.testing.assert_allclose(found.x, expected, atol=1e-6 * np.abs(expected).max())


def test_riccati_steps_converge_to_the_solution_of_the_program() -> None:
    """With small barriers: a mass on a line, whose force is at its bound."""
    pytest.importorskip("piqp")
    nodes = 20
    stage, last = ocp.Stage(), ocp.Stage()
    (x, _), (u, _) = stage.unknown("x", 2), stage.unknown("u", 1)
    force = stage.parameter("force", 1) + u
    x_now, x_next = stage.parameter("at", 2) + x, stage.parameter("next", 2)
    stage.moves("x", x_now + 0.1 * ca.vertcat(x_now[1], force) - x_next)
    stage.bounded(-1.0, force, 1.0)
    stage.cost([1.0, 0.1], x_now)
    stage.cost(0.01, force)
    last.cost(10.0, last.parameter("at", 2) + last.unknown("x", 2)[0])
    problem = ocp.Problem(stage, last, nodes, known=2, compile_c=False)
    x, u = np.tile([1.0, 0.0], (nodes + 1, 1)), np.zeros((nodes, 1))

    def given() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        return {"at": x[:-1], "next": x[1:], "force": u}, {"at": x[-1:]}

    exact = problem.increments(ocp.Piqp(1e-9).solve(problem.quadratic(*given())).x)["u"][:nodes]
    for barrier in [*np.geomspace(1e-1, 1e-7, 60), *20 * [1e-7]]:
        found = ocp.Riccati(problem, barrier, barrier).solve(problem.evaluated(*given()))
        step = problem.increments(found.x)
        x, u = x + step["x"], u + step["u"][:nodes]
    assert np.abs(exact).max() == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(u, exact, atol=2e-3)


def test_problems_that_have_no_riccati_step() -> None:
    problem, each = free_and_moved(3, bounds=1.0)
    with pytest.raises(RobotError, match="positive"):
        ocp.Riccati(problem, 0.0)
    linear, _ = problem.evaluated(each, {})
    linear["hessian"][:] = -1.0
    found = ocp.Riccati(problem).solve((linear, problem.evaluated(each, {})[1]))
    assert (found.solved, str(found)) == (True, "solved after 1 iterations")  # what is evaluated again is overwritten
    linear, ending = problem.evaluated(each, {})
    linear["hessian"][:] = -1.0
    found = ocp.Riccati(problem).solve((linear, ending))
    assert not found.solved
    assert "no minimum" in str(found)

    def small(costly: bool, known: int) -> ocp.Problem:
        stage, last = ocp.Stage(), ocp.Stage()
        (x, x_next), (u, _) = stage.unknown("x", 1), stage.unknown("u", 1)
        stage.moves("x", x + u)
        stage.cost(1.0, ca.vertcat(x, u, x_next if costly else 0))
        last.unknown("x", 1)
        return ocp.Problem(stage, last, 2, known=known, compile_c=False)

    with pytest.raises(RobotError, match="all 1 states of node 0"):
        ocp.Riccati(small(costly=False, known=0))
    with pytest.raises(RobotError, match="must not depend on next states"):
        ocp.Riccati(small(costly=True, known=1))


def plan(robot: codegen.Model, *, spent: float) -> tuple[ocp.Plan, ocp.Spent]:
    """A plan at rest, whose making took so many seconds."""
    q, joints = np.tile(robot.neutral(), (2, 1)), robot.nv - 6
    return ocp.Plan(0.0, 0.1, q, np.zeros((2, robot.nv)), np.zeros(joints), ocp.States(robot)), ocp.Spent(
        0.0, 0.0, spent, 1, True
    )


def test_plans_act_when_they_are_ready() -> None:
    """A period after their state, or after as many periods as they took; where there is none, the last one acts on."""
    robot, q, v = hopper(), hopper().neutral(), np.zeros(hopper().nv)
    made = [plan(robot, spent=seconds) for seconds in (0.0, 0.015, 0.001, 0.001)]
    made[3] = (None, made[3][1])
    orders = iter([made[0]] * 5 + made[1:])
    loop = ocp.Delayed(lambda t, q, v: next(orders), 0.01)
    loop.restart(0.0, q, v)
    acting = []
    for period in range(4):
        loop.update(0.01 * period, q, v)
        acting.append(loop.current)
    assert [acted is p for acted, p in zip(acting, (made[0][0], made[0][0], made[1][0], made[2][0]), strict=True)] == [
        True
    ] * 4


def test_a_plan_is_a_line_through_its_ends() -> None:
    robot, rng = hopper(), np.random.default_rng(2)
    states, (q, *_), v = ocp.States(robot), robot.random(rng), rng.standard_normal((2, robot.nv))
    ends = np.stack([q, states.moved(q, 0.1 * v.mean(0))])
    tau = rng.standard_normal(robot.nv - 6)
    made = ocp.Plan(1.0, 0.1, ends, v, tau, states)
    np.testing.assert_allclose(made.at(1.1)[0], ends[1], atol=NEAR)
    np.testing.assert_allclose(made.at(1.05)[1], v.mean(0))
    one = np.ones(robot.nv - 6)
    np.testing.assert_allclose(made.torques(1.0, *made.at(1.0), one, one), tau, atol=NEAR)
    error = made.torques(1.0, q, v[0] + 0.5, 3.0 * one, 2.0 * one) - tau
    np.testing.assert_allclose(error, -1.0, atol=NEAR)
    q_later, v_later = made.ahead(1.0, q, v[0], 0.1)
    np.testing.assert_allclose(q_later, ends[1], atol=NEAR)
    np.testing.assert_allclose(v_later, v[1], atol=NEAR)


def test_a_plant_has_the_equations_of_motion_of_its_robot() -> None:
    """MuJoCo's accelerations in the air, with torques, against ABA; masses are those of the robot, changed or not."""
    pytest.importorskip("mujoco")
    robot = codegen.load("go1", base="floating", convention="mujoco")
    limits = {body.joint.name: 50.0 for body in robot.bodies[1:]}
    parts = {"FR_foot": '<geom name="toe" size="0.02" mass="0"/>', robot.bodies[0].name: '<geom size="0.1" mass="0"/>'}
    plant = ocp.Plant(robot, limits, parts, timestep=1e-5)
    assert plant.model.body_mass.sum() == pytest.approx(sum(body.inertia.mass for body in robot.bodies))
    assert np.sum(plant.model.geom_contype) == 3  # the plane, and each part once
    q = robot.neutral()
    q[2:], rng = [1.0, 1.0, 0.0, 0.0, 0.0, *np.tile([0.1, 0.8, -1.5], 4)], np.random.default_rng(0)
    plant.put(q)
    tau = rng.uniform(-5, 5, 12)
    plant.step(2e-5, lambda t, q, v: tau)
    a = ORACLE["aba"](robot, q, np.zeros(18), np.r_[np.zeros(6), tau])
    np.testing.assert_allclose(plant.state[1] / 2e-5, a, rtol=2e-3, atol=2e-3 * np.abs(a).max())
    heavy = ocp.Plant(robot, limits, {}, masses=2.0)
    assert heavy.model.body_mass.sum() == pytest.approx(2 * sum(body.inertia.mass for body in robot.bodies))
    heavy.put(q)
    heavy.push(robot.bodies[0].name, [100.0, 0.0, 0.0])
    heavy.step(0.01, lambda t, q, v: np.full(12, 1e6))  # more than the motors have
    assert np.abs(heavy.data.actuator_force).max() == pytest.approx(50.0)
    assert heavy.state[1][0] > 0.01


def test_a_film_has_lines_where_mujoco_cannot_draw(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    pytest.importorskip("matplotlib")

    def refuse(*_: object) -> None:
        raise mujoco.FatalError("there is no screen")

    monkeypatch.setattr(mujoco, "Renderer", refuse)
    plant = ocp.Plant(codegen.load("go1", base="floating", convention="mujoco"), {}, {})
    film = ocp.Film(plant.model, 0.0, 1.0)
    film.show(plant.data)
    film.save(str(tmp_path / "film.gif"))
    assert (tmp_path / "film.gif").read_bytes().startswith(b"GIF")
