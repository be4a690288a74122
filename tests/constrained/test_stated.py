"""Contacts as users state them: kinds, points, axes, gains; through graphs and through compiled C."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pinocchio as pin
import pytest
from casadi import SX, Function
from mechanisms_cases import mechanism
from pinocchio_peer import pinocchio_model, se3
from scenarios import DELASSUS, HARD, PUBLISHED, TOLERANCE, worst
from thorough import besides

import codegen
from codegen.algorithms import ALGORITHMS, BEHIND
from codegen.api import graphs
from codegen.cli.samples import samples
from codegen.errors import RobotError
from codegen.geometry import Pose, mat3
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.model import Frame
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE, constrained
from codegen.spatial import so3_log
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

TYPES = ("spherical", "revolute", "planar", "prismatic", "revolute", "revolute", "spherical", "revolute", "revolute")
GIVEN = ("k", "kp", "kd", "target_velocity")
EYE = np.eye(6)


def quadruped():
    """A foot in world axes, one along the base's, a hinge about a shin's axis, and a vertical row, all with gains."""
    robot = codegen.load("solo12")
    texts = (
        "FL_FOOT:3:in=world:kp=3",
        "FR_FOOT:3:in=base_link:kd=2",
        "HL_LOWER_LEG:hinge-y:kp=4:kd=3",
        "HR_FOOT:z:in=world",
    )
    return robot, tuple(contact_of(robot, text) for text in texts)


def ancestors():
    """Along and across a random tree: points, spatial rows, other bodies' axes."""
    robot, rng = mechanism(TYPES, 11, base="fixed", convention="mujoco", armature=True), np.random.default_rng(4)
    return robot, (
        robot.contact("tool1", "y,rz", axes="world", kp=(1.0, 2.0), kd=0.5),
        robot.contact("tool6", rng.standard_normal((1, 6)), points=[(0.1, 0.2, -0.1), (0.3, 0.0, 0.2)], axes="tool8"),
        robot.contact("tool6", "x", axes="body6", spatial=True),
        robot.contact("tool8", 3, points=[(0.2, 0.0, 0.1)], axes="body1", kp=2.0, spatial=True),
    )


@cache
def looped():
    """Along the world's axes, each other's and their own: on the feet of robots with gears and with linkages."""
    texts = {
        "mini_cheetah": ("FR_foot_contact:3:in=world:kp=3:kd=1", "HL_foot_contact:x,y:in=FR_foot_contact:kp=2"),
        "tello_humanoid": ("left-foot:6:in=world:kp=3:kd=1", "right-foot:3:in=left-foot:kp=2", "right-foot:rx"),
        "jvrc1": (
            "left_ankle_p:hinge:axis=0,5,1:in=world:kp=3:kd=1",
            "right_toe_contact:3:in=world:kp=2",
            "right_heel_contact:x,rz:in=left_ankle_p",
            "left_wrist_contact:z:kd=2",
        ),
    }
    robots = [codegen.load(name) for name in texts]
    return [(robot, tuple(contact_of(robot, text) for text in texts[robot.name])) for robot in robots]


def soles():
    """Gears, and feet on their soles: all of one along the world's axes, of the other its height."""
    robot = codegen.load("jvrc1")
    texts = ("left_ankle_p:foot-0.2x0.1:in=world:kp=3:kd=1", "right_ankle_p:foot-0.2x0.1,z:kp=2:in=world")
    return robot, tuple(contact_of(robot, text) for text in texts)


def regular(robot, contacts, q, redundant=False):
    """The numbers of configurations at which no row almost depends on others, nor (unless `redundant`) wholly so."""
    at = (constrained.equations(robot, here, np.zeros(robot.nv), contacts=contacts) for here in q)
    ranks = map(constrained.rank, at)
    rows = sum(len(contact.rows) for contact in contacts)
    return (n for n, (rank, clear) in enumerate(ranks) if clear and (redundant or rank == rows))


def compared(
    robot, contacts, algorithm, parameters=(), *, run=None, number=4, iterations=8, external=(), redundant=False
):
    """The worst error of any output against the oracle at regular random states and random arguments.

    Multipliers of `redundant` rows are not compared, only what they do to the robot.
    """
    task = Task(robot, algorithm, contacts=contacts, parameters=parameters, iterations=iterations, external=external)
    ports = task.signature[0]
    rows, names = sum(len(contact.rows) for contact in contacts), [port.name for port in ports]
    values = samples(robot, names, len(external), (), 10 * number, 3, rows, len(contacts))
    chosen = list(islice(regular(robot, contacts, values[0], redundant), number))
    assert len(chosen) == number
    values = [value[chosen] for value in values]
    outputs = run(*values) if run else interpret(trace(task), *values)
    found, errors = outputs if isinstance(outputs, (tuple, list)) else (outputs,), []
    for n in range(number):
        state = {name: value[n] for name, value in zip(names, values, strict=True)}
        given = {name: state.pop(name) for name in (*parameters, *BEHIND) if name in state}
        expected = ORACLE[algorithm](robot, *state.values(), contacts=contacts, parameters=given, external=external)
        theirs = expected if isinstance(expected, tuple) else (expected,)
        pairs = zip(found, theirs[:1] if redundant else theirs, strict=False)
        errors.append(max(worst(ours[n][None], wanted[None]) for ours, wanted in pairs))
    return max(errors)


@pytest.mark.parametrize("algorithm", besides(["pv_early", "aba_prox"], [*HARD, *PUBLISHED]))
def test_dynamics(algorithm):
    robot, contacts = quadruped()
    assert compared(robot, contacts, algorithm, ("k",)) < 10 * TOLERANCE[algorithm]


WITH_LOOPS = [("pv", 0), ("constrained_aba", 0), ("pv_early", 1), ("aba_prox_stiff", 1)]
WITH_LOOPS += [(algorithm, 2) for algorithm in ("pv", "pv_early", "tree_kkt", "constrained_aba", *PUBLISHED)]


@pytest.mark.parametrize(("algorithm", "robot"), besides([("pv", 0), ("aba_prox_stiff", 1)], WITH_LOOPS))
def test_dynamics_with_loops(algorithm, robot):
    assert compared(*looped()[robot], algorithm, ("k",), number=2) < 10 * TOLERANCE[algorithm]


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["pv_soft", "efpa", "pv_osimr", "caba_osim"])
def test_hinges_on_a_robot_with_gears(algorithm):
    assert compared(*looped()[2], algorithm, ("R",) if algorithm == "pv_soft" else (), number=2) < 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["prox_pv", "constrained_aba"])
def test_soles_on_a_robot_with_gears(algorithm):
    assert compared(*soles(), algorithm, ("k",), number=2, redundant=True) < 1e-8


def test_a_hinge_about_an_axis_is_one_about_that_axis_of_a_frame():
    """The same motion and wrench, however it is stated; its moment about the axis vanishes."""
    tool = "lbr_iiwa_link_7"
    robot = codegen.load("iiwa").with_frame("turned", tool, rpy=(0.0, -0.3, 0.7))
    q, v, tau = robot.random(5)
    _, R, _ = ORACLE["fk"](robot, q, v, frames=[tool, "turned"])
    turned = R[0].T @ R[1]
    axis = turned[:, 0]
    about = (
        (robot.contact(tool, "hinge", axis=3.0 * axis, kd=2.0), np.eye(3)),
        (robot.contact(tool, "hinge", axis=R[0] @ axis, axes="world", kd=2.0), R[0].T),
        (robot.contact("turned", "hinge-x", kd=2.0), turned),
    )
    found = []
    for contact, turn in about:
        a, lam, *_ = interpret(trace(Task(robot, "pv", contacts=(contact,))), q, v, tau)
        found.append((a, np.kron(np.eye(2), turn) @ codegen.contact_wrenches([contact], lam)[0]))
    for a, wrench in found[1:]:
        assert worst(a[None], found[0][0][None]) < 1e-9
        assert worst(wrench[None], found[0][1][None]) < 1e-9
    assert abs(found[0][1][3:] @ axis) < 1e-9 * np.abs(found[0][1]).max()  # it turns freely


@pytest.mark.parametrize(
    "algorithm",
    besides(
        ["pv_soft", "tree_kkt"],
        ["pv", "pv_early", "pv_soft", "prox_pv", "tree_kkt", "constrained_aba", "aba_prox_stiff"],
    ),
)
def test_everything_as_an_argument(algorithm):
    """Gains, targets that move, softness, weights, multipliers to start from, external wrenches."""
    robot, contacts = ancestors()
    inputs = ALGORITHMS[algorithm].inputs
    given = (*GIVEN, *(("mu", "weight", "lam0") if "mu" in inputs else ()), *(("R",) if "R" in inputs else ()))
    allowed = 10 * TOLERANCE.get(algorithm, 1e-8)
    assert compared(robot, contacts, algorithm, given, external=("tool4", "body6"), iterations=12) < allowed


@pytest.mark.parametrize(
    "algorithm",
    besides(
        ["aba_osim", "pv_osimr", "projected_osim", "pv_osimf", "caba_osim_swept"],
        [*DELASSUS, "projected_osim", "caba_osim", "pv_osimf", "caba_osim_swept"],
    ),
)
def test_delassus_matrices(algorithm):
    robot, contacts = quadruped()
    contacts = (*contacts[:2], contacts[3]) if algorithm == "pv_osimf" else contacts  # each leg by itself is regular
    weights = ("mu", "weight") if algorithm.startswith("caba") else ()
    assert compared(robot, contacts, algorithm, weights) < (1e-8 if weights else 1e-11)


def test_compiled(build):
    """Compiled C of many states at once, direct, and with steps left to the caller."""
    robot, contacts = quadruped()
    held = build(robot, "pv_early", contacts=contacts, parameters=GIVEN)
    assert compared(robot, contacts, "pv_early", GIVEN, run=held) < 1e-7
    free = build(robot, "constrained_aba", contacts=contacts, iterations=None)
    steps = 1e-10, 50.0
    assert compared(robot, contacts, "constrained_aba", run=lambda *x: free(*x, *steps)[:2]) < 1e-8


def test_rows_hold_what_the_definition_says():
    """Second differences of positions along the motion: of a corner along the world's axes, and of rates of turns."""
    robot = codegen.load("iiwa", base="floating")
    tool, link = "lbr_iiwa_link_7", "lbr_iiwa_link_4"
    corner = (0.2, 0.1, 0.05)
    held = (robot.contact(tool, 3, points=[corner], axes="world"), robot.contact(link, "rx,rz", axes=tool))
    q, v, tau = robot.random(0)
    k, step = np.array([0.4, -0.3, 0.2, 0.6, -0.5]), 1e-4
    a, *_ = interpret(trace(Task(robot, "pv", contacts=held, parameters=("k",))), q, v, tau, k)
    seen = []
    for t in (-step, 0.0, step):
        at = ORACLE["integrate"](robot, q, t * v + t * t / 2 * a)
        seen.append(ORACLE["fk"](robot, at, v + t * a, frames=[tool, link]))
    corners = [p[0] + R[0] @ corner for p, R, _ in seen]
    assert np.abs((corners[0] - 2 * corners[1] + corners[2]) / step**2 - k[:3]).max() < 1e-5
    turning = (seen[2][2][1, 3:] - seen[0][2][1, 3:]) / (2 * step)
    assert np.abs((seen[1][1][0].T @ turning)[[0, 2]] - k[3:]).max() < 1e-5


@pytest.mark.thorough
def test_axes_turn_multipliers_and_nothing_else():
    robot = codegen.load("talos")
    q, v, tau = robot.random(2)
    foot, base = "left_sole_link", "torso_2_link"
    _, R, _ = ORACLE["fk"](robot, q, v, frames=[foot, base])
    turns = {"": np.eye(3), "world": R[0], base: R[1].T @ R[0], foot: np.eye(3)}
    for algorithm in ("pv_early", "prox_pv"):
        found = {
            axes: interpret(trace(Task(robot, algorithm, contacts=(robot.contact(foot, 6, axes=axes),))), q, v, tau)
            for axes in turns
        }
        for axes, turn in turns.items():
            assert worst(found[axes][0][None], found[""][0][None]) < 1e-9
            assert worst(found[axes][1][None], (np.kron(np.eye(2), turn) @ found[""][1])[None]) < 1e-9


@pytest.mark.thorough
def test_points_and_frames_held_wholly_turn_outside_the_sweeps():
    """Cheaper than rows that turn, and hardly dearer than the frame's own axes."""
    robot = codegen.load("solo12")
    feet = ("FL_FOOT:3", "FR_FOOT:3", "HL_FOOT:3", "HR_FOOT:3")

    def total(algorithm, texts, without=()):
        contacts = tuple(contact_of(robot, text) for text in texts)
        return count(trace(Task(robot, algorithm, contacts=contacts, without=without))).total

    world = [f"{foot}:in=world" for foot in feet]
    for algorithm in ("pv_early", "constrained_aba", "prox_pv", "pv_soft"):
        own, outside = total(algorithm, feet), total(algorithm, world)
        inside = total(algorithm, world, ("contact_axes",))
        assert own < outside < own + 400 < inside + 100
        assert outside < inside
    assert total("pv", [f"{foot}:kp=0" for foot in feet]) == total("pv", feet)
    assert total("pv", [f"{feet[0]}:in=FL_LOWER_LEG"]) <= total("pv", feet[:1])


@pytest.mark.parametrize(
    ("name", "sole"), besides([("iiwa", "lbr_iiwa_link_7")], [("iiwa", "lbr_iiwa_link_7"), ("talos", "left_sole_link")])
)
def test_a_sole_is_its_corners(name, sole):
    robot = codegen.load(name)
    contact = contact_of(robot, f"{sole}:foot-0.2x0.12")
    corners = {tuple(0.5 * np.array([0.2, 0.12, 0.0]) * [x, y, 0]) for x in (1, -1) for y in (1, -1)}
    assert set(contact.points) == corners
    for corner, rows in contact.parts:
        assert np.array_equal(contact.rows[rows], EYE[3:]), corner
    model, frames = robot, []
    for n, (corner, _) in enumerate(contact.parts):
        model, frames = model.with_frame(f"corner{n}", sole, corner), [*frames, f"corner{n}"]
    apart = tuple(model.contact(frame, 3) for frame in frames)
    state = robot.random(0)
    ours, theirs = (interpret(trace(Task(model, "prox_pv", contacts=held)), *state) for held in ((contact,), apart))
    assert worst(ours[0][None], theirs[0][None]) < 1e-12
    assert worst(ours[1][None], theirs[1][None]) < 1e-9
    assert [len(contact_of(robot, f"{sole}:foot-.2x.1{rows}").rows) for rows in ("", ",z", ",z,x")] == [
        12,
        4,
        8,
    ]


def test_rotation_vectors():
    """Against Pinocchio, from rounding to nearly half a turn; finite at half a turn."""
    R = SX.sym("R", 3, 3)
    ours, rng = Function("log", [R], [so3_log(R)]), np.random.default_rng(0)
    for angle in (0.0, 1e-12, 1e-6, 1e-3, 0.049, 0.051, 0.5, 1.6, 3.0, 3.1):
        axis = rng.standard_normal(3)
        turned = pin.exp3(angle * axis / np.linalg.norm(axis))
        assert np.allclose(np.array(ours(turned)).ravel(), pin.log3(turned), rtol=1e-10, atol=1e-15)
    assert np.isfinite(np.array(ours(np.diag([1.0, -1.0, -1.0])))).all()


def test_wrenches_push_as_the_contacts_do():
    """Forward dynamics under the contacts' wrenches accelerates as with the contacts."""
    robot = codegen.load("talos")
    frames = ("left_sole_link", "right_sole_link", "gripper_left_base_link")
    held = (
        robot.contact(frames[0], "foot-0.2x0.12", axes="world"),
        robot.contact(frames[1], 3, points=[(0.1, 0, 0), (-0.1, 0.02, 0.0)]),
        robot.contact(frames[2], "hinge-y"),
    )
    q, v, tau = robot.random(4)
    a, lam = interpret(trace(Task(robot, "prox_pv", contacts=held)), q, v, tau)
    _, R, _ = ORACLE["fk"](robot, q, v, frames=frames)
    wrenches = codegen.contact_wrenches(held, np.stack([lam, lam]), np.stack([R, R]))
    assert wrenches.shape == (2, 3, 6)
    own = wrenches[1].copy()
    own[0] = np.kron(np.eye(2), R[0].T) @ own[0]
    free = ORACLE["aba"](robot, q, v, tau, own, external=frames)
    assert worst(free[None], a[None]) < 1e-8
    with pytest.raises(RobotError, match="rotation"):
        codegen.contact_wrenches(held, lam)
    with pytest.raises(RobotError, match="23 rows"):
        codegen.contact_wrenches(held, lam[1:], R)
    for none in (["left_sole_link:3"], "left_sole_link:3", held[0]):
        with pytest.raises(RobotError, match="must be a list of contacts, as robot"):
            codegen.contact_wrenches(none, lam)


def peer_solution(robot, contacts, kinds, targets, q, v, tau):
    """Pinocchio's constraint dynamics, contacts tied to targets in the world, with their correctors."""
    peer, found = pinocchio_model(robot), pin.StdVec_RigidConstraintModel()
    for contact, kind, target in zip(contacts, kinds, targets, strict=True):
        place = se3(contact.frame.placement)
        tied = pin.RigidConstraintModel(kind, peer, contact.frame.body + 1, place, 0, target, pin.ReferenceFrame.LOCAL)
        tied.m_baumgarte_parameters.Kp = contact.kp[0] if contact.kp else 0.0
        tied.m_baumgarte_parameters.Kd = contact.kd[0] if contact.kd else 0.0
        found.append(tied)
    data, datas = peer.createData(), pin.StdVec_RigidConstraintData()
    for tied in found:
        datas.append(tied.createData())
    pin.initConstraintDynamics(peer, data, found, datas)
    settings = pin.ProximalSettings(1e-14, 1e-12, 50)
    return pin.constraintDynamics(peer, data, q, v, tau, found, datas, settings).copy()


def test_against_pinocchio():
    """Points with gains, whose error is the gap to the target, and welds of the spatial acceleration."""
    robot = codegen.load("solo12")
    feet = ("FL_FOOT", "HR_FOOT")
    held = (*(robot.contact(foot, 3, kp=30.0, kd=7.0) for foot in feet), robot.contact("FR_UPPER_LEG", spatial=True))
    kinds = (pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_3D, pin.ContactType.CONTACT_6D)
    q, v, tau = robot.random(3)
    p, R, _ = ORACLE["fk"](robot, q, v, frames=[contact.frame.name for contact in held])
    target = p + 0.1 * np.random.default_rng(0).standard_normal((3, 3))
    a, *_ = interpret(trace(Task(robot, "pv", contacts=held)), q, v, tau, target)
    theirs = peer_solution(robot, held, kinds, [pin.SE3(R[n], target[n]) for n in range(3)], q, v, tau)
    assert worst(a[None], theirs[None]) < 1e-8


@pytest.mark.parametrize(
    ("name", "foot"), besides([("go1", "FL_foot")], [("go1", "FL_foot"), ("talos", "left_sole_link")])
)
def test_quarter_turns_keep_zeros(name, foot):
    """A weld along other axes of the same link costs what it did."""
    robot = codegen.load(name)
    turn = Pose(mat3([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), (0.0, 0.0, 0.0))
    sole = robot.frame(foot)
    turned = replace(robot, frames=(*robot.frames, Frame("turned", sole.body, sole.placement @ turn)))
    plain, other = (count(graphs(turned, "pv_osimr", contacts=(f"{frame}:6",))[1]).total for frame in (foot, "turned"))
    assert abs(plain - other) < 0.01 * plain
