"""Optimal control of robots that walk: their stages, what is asked of them, and what is said of their solves."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from mechanisms_cases import mechanism

import codegen
from codegen import ocp
from codegen.oracle import ORACLE

pytest.importorskip("casadi", minversion="3.8")
STEP, WEIGHT = 0.02, 50.0


class Stubborn:
    """A solver whose steps are zero, or which finds none."""

    solves = True

    def solve(self, linear: object) -> ocp.Solution:
        return ocp.Solution(np.zeros(100), self.solves, 1, str(type(linear)))


class Hopper(ocp.Walker):
    """Its torques are numbers."""

    def torques(self) -> np.ndarray:
        return np.arange(3.0)


def hopper(solver: Stubborn) -> tuple[codegen.Model, Hopper]:
    """A robot with two feet of three forces each, and its controller over five nodes."""
    robot = mechanism(("revolute",), 3, base="floating", convention="mujoco")
    body, each, last = ocp.WholeBody(robot, STEP), ocp.Stage(), ocp.Stage()
    node = body.node(each, feet=2, forces=6)
    body.follow(each, node.q, node.v, np.ones(robot.nv), np.ones(robot.nv))
    each.cost(1.0, ca.vertcat(node.held, node.height, node.rate, node.f - each.parameter("f_wanted", 6)))
    q, v, _ = body.state(last)
    body.follow(last, q, v, np.ones(robot.nv), np.ones(robot.nv))
    assert each.moved == {"dq": 0}
    frames = tuple(frame.name for frame in robot.frames[-2:])
    gait = ocp.Gait(frames, period=0.08, duty=0.5, phases=(0.0, 0.5), start=0.0)
    problem = ocp.Problem(each, last, 5, known=2 * robot.nv, compile_c=False)
    return robot, Hopper(robot, problem, solver, gait, STEP, robot.neutral(), WEIGHT)


def test_a_node_moves_at_the_mean_velocity() -> None:
    """The row of the next configuration vanishes where it is the one that follows, and its derivative is -1."""
    robot, walker = hopper(Stubborn())
    rng, states = np.random.default_rng(0), ocp.States(robot)
    q, v = walker.horizon.q, rng.standard_normal((6, robot.nv))
    for k in range(5):
        q[k + 1] = states.moved(q[k], STEP * (v[k] + v[k + 1]) / 2)
    walker.horizon.v = v
    found, _ = walker.horizon.problem.evaluated(*walker.parameters())
    np.testing.assert_allclose(found["zero"], 0.0, atol=1e-9)


def test_what_is_asked_of_a_walker() -> None:
    robot, walker = hopper(Stubborn())
    assert walker.horizon.f[0].tolist() == [0, 0, WEIGHT / 2, 0, 0, WEIGHT / 2]
    q = robot.neutral()
    walker.move_on(q, (1.0, -0.1), 0.5)
    np.testing.assert_allclose(walker.where, [0.2, -0.1])
    each, last = walker.parameters()
    np.testing.assert_allclose(each["q_wanted"][:, 0], 0.2 + 0.5 * STEP * np.arange(5))
    np.testing.assert_allclose(last["q_wanted"][0, :2], [0.2 + 0.5 * STEP * 5, -0.1])
    assert (each["v_wanted"][:, 0] == 0.5).all()
    assert (each["held"].sum(axis=1) == 1).all()
    np.testing.assert_allclose(each["f_wanted"][:, [2, 5]], WEIGHT * each["held"])


def test_plans_of_a_walker() -> None:
    """The first step with the torques of the controller, or none where the solver finds none."""
    robot, walker = hopper(solver := Stubborn())
    plan, spent = walker.plan(0.0, robot.neutral(), np.zeros(robot.nv))
    assert spent.solved
    assert plan is not None
    assert plan.tau.tolist() == [0, 1, 2]
    solver.solves = False
    assert walker.plan(STEP, robot.neutral(), np.zeros(robot.nv))[0] is None


def test_a_gait_in_one_call() -> None:
    _, walker = hopper(Stubborn())
    times = np.linspace(0, 0.3, 50)
    for all_at_once, one in zip(walker.gait.schedule(times), ("held", "height", "rate"), strict=True):
        np.testing.assert_array_equal(all_at_once, getattr(walker.gait, one)(times))


def test_what_is_said_of_solves(capsys: pytest.CaptureFixture[str]) -> None:
    solves = [ocp.Spent(0.1 * k, 1e-3, 1e-3 * k, 1, k != 3) for k in range(1, 6)]
    said = ocp.of_solves(solves, 0.0035, 0.5)
    assert said["missed deadlines (3.5 ms)"] == "2"
    assert said["failed solves"] == "1"
    assert said["time of a solve"].startswith("median 3.00 ms")
    ocp.print_table(said)
    assert capsys.readouterr().out.splitlines()[0] == f"{'solves':32}5 in 0.50 s, 10.0 Hz"


def test_pictures_of_solves() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, (times, other) = plt.subplots(2)
    ocp.draw_solves(times, [ocp.Spent(0.1 * k, 1e-3, 1e-3 * k, 1, k != 3) for k in range(1, 6)], 0.01)
    ocp.draw_events([times], [0.2, 0.4], 0.1, [0.45])
    ocp.draw_events([other], [], 0.1, [])
    labels = [text.get_text() for text in times.get_legend().get_texts()]
    assert labels == ["a solve", "functions in it", "failed (1)", "period", "push", "fall"]
    assert other.get_legend() is None
    assert times.get_ylim()[1] == pytest.approx(11)
    plt.close(figure)


FEET = {
    "go1": ("FR_foot", "FL_foot", "RR_foot", "RL_foot"),
    "solo12": ("FR_FOOT", "FL_FOOT", "HR_FOOT", "HL_FOOT"),
    "anymal_b": ("RF_FOOT", "LF_FOOT", "RH_FOOT", "LH_FOOT"),
}


@pytest.mark.parametrize("name", FEET)
def test_feet_are_the_ends_of_legs(name: str) -> None:
    assert ocp.quadruped_feet(codegen.load(name, base="floating")) == FEET[name]


@pytest.mark.parametrize("name", ["solo12", pytest.param("anymal_b", marks=pytest.mark.thorough)])
def test_feet_are_below_hips_and_knees_behind(name: str) -> None:
    """By the oracle's kinematics: three quarters of a leg's length below, within the limits of the joints."""
    robot = codegen.load(name, base="floating", convention="mujoco")
    angles = ocp.quadruped_stance(robot, FEET[name])
    legs = [(foot - 1, foot) for foot in (robot.frame(foot).body for foot in FEET[name])]
    frames = (*FEET[name], *(robot.bodies[hip].name for hip, _ in legs), *(robot.bodies[knee].name for _, knee in legs))
    q, v = np.concatenate([robot.neutral()[:7], angles]), np.zeros(robot.nv)
    foot, hip, knee = ORACLE["fk"](robot, q, v, frames=frames)[0].reshape(3, 4, 3)
    length = np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(foot - knee, axis=1)
    np.testing.assert_allclose(hip[:, 2] - foot[:, 2], 0.75 * length, atol=1e-3)
    np.testing.assert_allclose(foot[:, 0], hip[:, 0], atol=1e-3)
    assert (knee[:, 0] < hip[:, 0]).all()
    for angle, body in zip(angles, robot.bodies[1:], strict=True):
        assert body.joint.lower <= angle <= body.joint.upper


def test_robots_without_four_legs_have_no_feet() -> None:
    for name in ("iiwa", "talos"):
        with pytest.raises(codegen.RobotError, match="four legs of three hinges are needed"):
            ocp.quadruped_feet(codegen.load(name))
    robot = codegen.load("solo12")
    with pytest.raises(codegen.RobotError, match="one foot at the end of each leg is needed, not FR_FOOT"):
        ocp.quadruped_stance(robot, ("FR_FOOT",))
