"""rigidc's C in Crocoddyl: accelerations, derivatives and costs against Crocoddyl's own actions, and a solver."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from thorough import besides

import codegen
from codegen.api import task
from codegen.compilation.compiler import toolchain
from codegen.errors import BuildError, RobotError
from codegen.interfaces.crocoddyl import to_crocoddyl
from codegen.interfaces.crocoddyl_module import module_of
from codegen.task.options import style_of
from opcount.bench.build_dir import Absent

try:
    import crocoddyl
    import pinocchio as pin
    import pinocchio_peer

    from opcount.bench.crocoddyl_program import measured
except ImportError:
    crocoddyl = None

NEAR = 1e-9
FEET = tuple(f"{limb}_FOOT" for limb in ("FL", "FR", "HL", "HR"))
SOLES = ("left_sole_link", "right_sole_link")
SHARED = ("xout", "Fx", "Fu", "cost", "Lx", "Lu", "Lxx", "Lxu", "Luu")

installed = pytest.mark.skipif(crocoddyl is None, reason="Crocoddyl is not installed: crocoddyl==3.2.* pin==4.0.0")


@cache
def peer(name: str):
    """A bundled robot as Pinocchio's, whose base is called as Crocoddyl wants it."""
    model = pinocchio_peer.pinocchio_model(codegen.load(name))
    if codegen.load(name).floating:
        model.names[1] = "root_joint"
    return model


class Problem:
    """The parts of a Crocoddyl action: a state, an actuation, contacts, and costs of all kinds on one frame."""

    def __init__(self, model, frames=(), rows=3, gains=(0.0, 5.0), axes="LOCAL", tip="", forces=False):
        self.state = crocoddyl.StateMultibody(model)
        floating = model.existJointName("root_joint")
        actuation = crocoddyl.ActuationModelFloatingBase if floating else crocoddyl.ActuationModelFull
        self.actuation = actuation(self.state)
        self.nu = self.actuation.nu
        self.costs = crocoddyl.CostModelSum(self.state, self.nu)
        self.rest = np.concatenate([pin.neutral(model), np.zeros(model.nv)])
        self.add("state", crocoddyl.ResidualModelState(self.state, self.rest, self.nu), 0.1)
        self.add("control", crocoddyl.ResidualModelControl(self.state, self.nu), 1e-3)
        self.contacts = crocoddyl.ContactModelMultiple(self.state, self.nu) if frames else None
        for frame in frames:
            self.hold(frame, rows, np.array(gains), getattr(pin.ReferenceFrame, axes), forces)
        if tip:
            self.reach(tip)

    def add(self, name, residual, weight=1.0):
        self.costs.addCost(name, crocoddyl.CostModelResidual(self.state, residual), weight)

    def hold(self, frame, rows, gains, axes, forces):
        number, place = self.state.pinocchio.getFrameId(frame), pin.SE3(np.eye(3), np.array([0.1, 0.2, -0.3]))
        kind, at = (crocoddyl.ContactModel3D, place.translation) if rows == 3 else (crocoddyl.ContactModel6D, place)
        self.contacts.addContact(frame, kind(self.state, number, at, axes, self.nu, gains))
        if forces:
            cone = crocoddyl.FrictionCone(np.eye(3), 0.7, 4, False)
            cone = crocoddyl.ResidualModelContactFrictionCone(self.state, number, cone, self.nu, True)
            self.add(f"cone {frame}", cone)

    def reach(self, frame):
        number = self.state.pinocchio.getFrameId(frame)
        pose, speed = pin.SE3(np.eye(3), np.array([0.4, 0.2, 0.5])), pin.Motion(np.ones(6))
        axes = pin.ReferenceFrame.LOCAL
        self.add("pose", crocoddyl.ResidualModelFramePlacement(self.state, number, pose, self.nu))
        self.add("speed", crocoddyl.ResidualModelFrameVelocity(self.state, number, speed, axes, self.nu))
        if self.contacts:  # Crocoddyl's free dynamics computes neither of these
            self.balance()

    def balance(self):
        self.add("com", crocoddyl.ResidualModelCoMPosition(self.state, np.ones(3), self.nu))
        self.add("momentum", crocoddyl.ResidualModelCentroidalMomentum(self.state, np.ones(6), self.nu))

    def theirs(self):
        """Crocoddyl's own action."""
        if not self.contacts:
            return crocoddyl.DifferentialActionModelFreeFwdDynamics(self.state, self.actuation, self.costs)
        return crocoddyl.DifferentialActionModelContactFwdDynamics(
            self.state, self.actuation, self.contacts, self.costs, 0.0, True
        )

    def ours(self, robot, **options):
        """The same with rigidc's C."""
        parts = (self.state, self.actuation, self.costs, self.contacts)
        return to_crocoddyl(robot, *parts, enable_force=True, **options)

    def point(self, seed):
        """A random state and control."""
        rng, model = np.random.default_rng(seed), self.state.pinocchio
        q = pin.integrate(model, pin.neutral(model), rng.standard_normal(model.nv))
        return np.concatenate([q, rng.standard_normal(model.nv)]), rng.standard_normal(self.nu)


def agree(ours, theirs, points) -> None:
    """Values, derivatives and costs of two actions are the same at these points, and costs of last nodes."""
    actions = [(action, action.createData()) for action in (ours, theirs)]
    for x, u in points:
        for controls in ((u,), ()):
            for action, data in actions:
                action.calc(data, x, *controls)
                action.calcDiff(data, x, *controls)
            for name in SHARED if controls else ("cost", "Lx", "Lxx"):
                mine, their = (np.asarray(getattr(data, name)) for _, data in actions)
                assert np.abs(mine - their).max() <= NEAR * max(np.abs(their).max(), 1), name


CASES = [
    ("solo12", {"frames": FEET, "forces": True}),
    ("iiwa", {"tip": "lbr_iiwa_link_7"}),
    (
        "solo12",
        {"frames": FEET, "gains": (3.0, 5.0), "axes": "LOCAL_WORLD_ALIGNED", "forces": True, "tip": "base_link"},
    ),
    ("solo12", {"frames": FEET[:2], "gains": (3.0, 0.0), "axes": "WORLD"}),
    ("solo12", {}),
    ("talos", {"frames": SOLES, "rows": 6, "tip": "gripper_left_base_link"}),
    ("talos", {"frames": SOLES[:1], "rows": 6, "axes": "LOCAL_WORLD_ALIGNED"}),
]


@installed
@pytest.mark.parametrize("number", besides((0, 1), range(len(CASES))))
def test_the_same_as_crocoddyls_own(number):
    robot, options = CASES[number]
    made = Problem(peer(robot), **options)
    agree(made.ours(codegen.load(robot)), made.theirs(), map(made.point, range(3)))


@installed
@pytest.mark.thorough  # Crocoddyl's headers take half a minute to compile
@pytest.mark.parametrize("number", [0, 1, 5])
def test_an_action_in_cplusplus_is_the_same(number):
    robot, options = CASES[number]
    made = Problem(peer(robot), **options)
    ours = made.ours(codegen.load(robot), cplusplus=True)
    assert ours is not made.ours(codegen.load(robot), cplusplus=True)  # of one module
    agree(ours, made.theirs(), map(made.point, range(3)))
    solved = []
    for action in (ours, made.theirs()):
        node = crocoddyl.IntegratedActionModelEuler(action, 0.01)
        solver = crocoddyl.SolverFDDP(crocoddyl.ShootingProblem(made.rest, [node] * 5, node))
        solver.solve([], [], 3)
        solved.append(solver.cost)
    np.testing.assert_allclose(*solved, rtol=1e-6)


def test_without_crocoddyls_headers(tmp_path):
    given = task(codegen.load("chain:2"), "aba")
    tools = toolchain("native")
    with pytest.raises(BuildError, match=r"for an action in C\+\+ .*crocoddyl is needed, which is not there"):
        module_of(given, style_of("float64", "fast", tools), tools, tmp_path)


LINK = """<link name="{0}"><inertial><mass value="{1}"/>
<inertia ixx="1" iyy="2" izz="1.5" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{1}" type="revolute"><parent link="base"/><child link="{0}"/><origin xyz="{2} 0 0.1"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""


@installed
def test_another_order_of_joints(tmp_path):
    """Pinocchio sorts the joints of a URDF by name, rigidc keeps the order of the file."""
    parts = [LINK.format(name, mass) for name, mass in (("base", 5), ("left", 1), ("right", 2))]
    parts += [JOINT.format("right", "z", 0.3), JOINT.format("left", "a", -0.2)]
    text = f'<robot name="two">{"".join(parts)}</robot>'
    (tmp_path / "two.urdf").write_text(text)
    made = Problem(pin.buildModelFromXML(text, pin.JointModelFreeFlyer()), ("left",), forces=True)
    ours = made.ours(codegen.load(tmp_path / "two.urdf", base="floating"))
    assert ours.dynamics.order
    agree(ours, made.theirs(), map(made.point, range(3)))


@installed
def test_controls_that_do_more_than_joint_forces():
    """An actuation that bends with the controls."""
    made = Problem(peer("iiwa"), tip="lbr_iiwa_link_7")
    made.actuation = crocoddyl.ActuationSquashingModel(
        made.actuation, crocoddyl.SquashingModelSmoothSat(-np.full(7, 9.0), np.full(7, 9.0), 7), 7
    )
    agree(made.ours(codegen.load("iiwa")), made.theirs(), map(made.point, range(2)))


@installed
@pytest.mark.parametrize("robot", ["iiwa", pytest.param("solo12", marks=pytest.mark.thorough)])
def test_a_solver_finds_the_same(robot):
    made = Problem(peer(robot), FEET if robot == "solo12" else (), tip="" if robot == "solo12" else "lbr_iiwa_link_7")
    found = []
    for action in (made.ours(codegen.load(robot)), made.theirs()):
        node = crocoddyl.IntegratedActionModelEuler(action, 0.01)
        solver = crocoddyl.SolverFDDP(crocoddyl.ShootingProblem(made.point(0)[0], [node] * 12, node))
        solver.th_stop = 1e-10
        solver.solve([], [], 60)
        found.append((solver.cost, solver.iter, np.concatenate(solver.us)))
    ours, theirs = found
    assert ours[1] == theirs[1] > 3
    assert abs(ours[0] - theirs[0]) < NEAR * theirs[0]
    np.testing.assert_allclose(ours[2], theirs[2], atol=1e-6 * np.abs(theirs[2]).max())


@installed
def test_problems_without_a_solution_end_as_crocoddyls_own():
    """Torques that are too small for the goal: the same trajectory. States that are no numbers: a status, no crash."""
    made = Problem(peer("iiwa"), tip="lbr_iiwa_link_7")
    start, _ = made.point(0)
    found = []
    for action in (made.ours(codegen.load("iiwa")), made.theirs()):
        action.u_lb, action.u_ub = np.full(7, -0.01), np.full(7, 0.01)
        node = crocoddyl.IntegratedActionModelEuler(action, 0.01)
        solver = crocoddyl.SolverBoxFDDP(crocoddyl.ShootingProblem(start, [node] * 12, node))
        solver.th_stop = 1e-10
        found.append((solver.solve([], [], 20), solver.iter, solver.cost, np.concatenate(solver.us)))
        assert np.abs(found[-1][3]).max() <= 0.01 + 1e-12
        solver = crocoddyl.SolverFDDP(crocoddyl.ShootingProblem(np.full_like(start, np.nan), [node] * 3, node))
        assert not solver.solve([], [], 5)
        data = action.createData()
        action.calc(data, np.full_like(start, np.nan), np.zeros(7))
        assert np.isnan(data.xout).any()
    ours, theirs = found
    assert ours[:2] == theirs[:2]
    assert abs(ours[2] - theirs[2]) < NEAR * theirs[2]
    np.testing.assert_allclose(ours[3], theirs[3], atol=1e-8)


@installed
@pytest.mark.thorough  # Crocoddyl's headers take half a minute to compile
@pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++")
@pytest.mark.parametrize(("robot", "frames", "rows"), [("solo12", FEET, 3), ("talos", SOLES, 6)])
def test_the_action_in_cplusplus(tmp_path, robot, frames, rows):
    try:
        error, *times = measured(codegen.load(robot), frames, rows, tmp_path)
    except Absent as sentence:
        pytest.skip(str(sentence))
    assert error < NEAR
    assert min(times) > 0


def test_what_the_header_does_not_take(tmp_path):
    solo = codegen.load("solo12")
    for given, said in (
        ({"algorithms": ["crba"]}, "crba: Crocoddyl takes forward dynamics with derivatives"),
        ({"algorithms": ["aba"], "external": ["FL_FOOT"]}, "aba: Crocoddyl hands over q, v and tau alone; .* f_ext"),
    ):
        with pytest.raises(RobotError, match=said):
            codegen.generate(solo, given.pop("algorithms"), tmp_path, interfaces=("crocoddyl",), **given)


@installed
def test_what_is_refused():
    arm, solo = codegen.load("iiwa"), codegen.load("solo12")
    with pytest.raises(RobotError, match="does not move as the Pinocchio model of the state does"):
        Problem(peer("iiwa")).ours(replace(arm, gravity=(0.0, 0.0, -1.6)))
    with pytest.raises(RobotError, match="the Pinocchio model of the state has no joint 'lbr_iiwa_joint_1'"):
        Problem(peer("solo12")).ours(arm)
    with pytest.raises(RobotError, match="joint 'floating_base' has 7 coordinates here and 1 in Pinocchio"):
        Problem(peer("iiwa")).ours(solo)
    made = Problem(peer("solo12"), FEET, rows=6, gains=(1.0, 0.0))
    with pytest.raises(RobotError, match=r"ContactModel6D on 'FL_FOOT': its gain on positions must be zero"):
        made.ours(solo)
    gained = Problem(peer("solo12"), FEET, gains=(1.0, 0.0))
    with pytest.raises(RobotError, match="cplusplus=True takes joints in Pinocchio's order and no gains on positions"):
        gained.ours(solo, cplusplus=True)
    with pytest.raises(RobotError, match="crba has no derivatives to give to Crocoddyl"):
        Problem(peer("iiwa")).ours(arm, algorithm="crba")


def test_another_pinocchio(monkeypatch):
    versions = {"libcrocoddyl": "3.2.1", "libpinocchio": "4.1.0"}
    monkeypatch.setattr("codegen.interfaces.crocoddyl.version", versions.__getitem__)
    with pytest.raises(RobotError, match=r"Crocoddyl 3.2.1 crashes with Pinocchio 4.1.0; pip install rigidc\[croco"):
        to_crocoddyl(codegen.load("iiwa"), None, None, None)


def test_without_crocoddyl(monkeypatch):
    arm = codegen.load("iiwa")
    monkeypatch.setitem(sys.modules, "crocoddyl", None)
    with pytest.raises(RobotError, match=r"Crocoddyl 3.2 is needed.*pip install rigidc\[crocoddyl\]"):
        to_crocoddyl(arm, None, None, None)
    monkeypatch.setitem(sys.modules, "crocoddyl", SimpleNamespace(__version__="2.1.0"))
    with pytest.raises(RobotError, match=r"Crocoddyl 2.1.0 is too old"):
        to_crocoddyl(arm, None, None, None)
