"""Tips whose joints follow from their contacts (`codegen.elimination.links`): exact, cheaper, and nobody sees it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from casadi import SX
from mechanisms_cases import ALL_TYPES, mechanism, pose
from scenarios import DIRECT, TOLERANCE, worst
from test_stated import GIVEN, compared
from thorough import besides, diagonal
from trees import symbolic_tree

import codegen
from codegen import passes
from codegen.elimination.detect import determined_exactly, determined_in_steps
from codegen.elimination.links import WeldedLink
from codegen.geometry import Pose, vec3
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.model import Contact, Frame
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE, constrained
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

EYE = np.eye(6)
KINDS = (
    {"rows": 6, "kp": 2.0},
    {"rows": 3, "axes": "world", "kd": 1.0},
    {"rows": 6, "axes": "world", "spatial": True},
    {"rows": EYE[[0, 1, 3, 5]], "points": [(0.1, -0.2, 0.3)]},
    {"rows": np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])[::-1]},
    {"rows": "hinge", "axis": (1.0, 2.0, -1.0)},
)


def tree_of(robot, contacts):
    return symbolic_tree(robot, SX.sym("q", robot.nq), contacts=contacts, turned=False, swept="both", held="in steps")


def held(seed, armature):
    """A random tree of joints of all types; independent contacts of many kinds, none beyond another's body."""
    rng = np.random.default_rng(seed)
    types = tuple(rng.choice([*ALL_TYPES[:4], "revolute", "revolute"], 10))
    model = mechanism(types, seed, base="floating", armature=armature, branching=0.4)
    q, v, _ = model.random(rng)
    found: list[tuple[int, Contact]] = []
    for b, kind in zip(rng.permutation(range(3, len(model.bodies))), rng.permutation(len(KINDS)), strict=False):
        more = model.contact(f"{rng.choice(['tool', 'body'])}{b}", **KINDS[kind])
        apart = not any(b in _way(model, other) or other in _way(model, b) for other, _ in found)
        contacts = (*(contact for _, contact in found), more)
        at = constrained.equations(model, q, v, contacts=contacts)
        if apart and constrained.rank(at) == (len(at.J), True):
            found.append((b, more))
    return model, tuple(contact for _, contact in found)


def balanced(robot, contacts, q, v, tau, a, lam):
    """What M a + C = tau + J' lam lacks, over the largest of M a."""
    at = constrained.equations(robot, q, v, contacts=contacts)
    return np.abs(at.M @ a + at.bias - tau - at.J.T @ lam).max() / np.abs(at.M @ a).max()


def _way(model, b):
    way = []
    while b >= 0:
        way.append(b)
        b = model.bodies[b].parent
    return way


@pytest.mark.parametrize(
    ("seed", "algorithm", "armature"),
    besides(
        [(0, "pv", True), (1, "pv_early", False), (3, "pv_early", True)], [*product(range(5), DIRECT, [True, False])]
    ),
)
def test_random_trees(seed, algorithm, armature):
    robot, contacts = held(seed, armature)
    assert determined_exactly(tree_of(robot, contacts))
    external = tuple(contact.frame.name for contact in contacts)
    assert compared(robot, contacts, algorithm, GIVEN, external=external) < 10 * TOLERANCE[algorithm]


@pytest.mark.parametrize("algorithm", besides(DIRECT[1:], DIRECT))
def test_numbers_that_stay_arguments(algorithm):
    """Payloads on led links, their joints elsewhere, and gravity."""
    robot = codegen.load("go1")
    contacts = tuple(contact_of(robot, text) for text in ("FL_foot:3", "RR_calf:6"))
    payload, offset = [1.5, 0.1, 0.02, -0.1, 0.02, 0.03, 0.04, 0.001, 0.002, -0.003], [0.02, -0.03, -0.2]
    given = {"gravity": [1.0, -2.0, -9.0]}
    for leg in ("FL", "RR"):
        given |= {f"payload:{leg}_calf": payload, f"offset:{leg}_calf_joint": offset}
    q, v, tau = robot.random(3)
    task = Task(robot, algorithm, contacts=contacts, parameters=tuple(given))
    a, lam, *_ = interpret(trace(task), q, v, tau, *given.values())
    expected = ORACLE[algorithm](robot, q, v, tau, contacts=contacts, parameters=given)
    assert worst(a[None], expected[0][None]) < TOLERANCE[algorithm]
    assert worst(lam[None], expected[1][None]) < TOLERANCE[algorithm]


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", DIRECT)
def test_compiled(build, algorithm):
    """A held hand with a gripper on it, a foot that leads two joints, a point that leads one."""
    robot = codegen.load("talos")
    contacts = tuple(
        contact_of(robot, text) for text in ("wrist_left_ft_tool_link:6", "left_sole_link:6", "right_sole_link:3")
    )
    links = determined_exactly(tree_of(robot, contacts))
    assert [type(link) is WeldedLink for link in links.values()] == [True, True, False]
    function = build(robot, algorithm, contacts=contacts, parameters=("k",))
    assert compared(robot, contacts, algorithm, ("k",), run=function) < TOLERANCE[algorithm]


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", DIRECT)
def test_motion_obeys_the_forces_where_rows_are_left_out(algorithm):
    """Straight legs do not let both feet move apart; what the feet do instead, the multipliers make them do."""
    robot = codegen.load("talos")
    contacts = tuple(robot.contact(foot, 6) for foot in ("left_sole_link", "right_sole_link"))
    q, (_, v, tau) = robot.neutral(), robot.random(1)
    q[7:] = 0.0
    hand = robot.contact("wrist_left_ft_tool_link", 6)
    k = np.random.default_rng(0).standard_normal(24)
    for held_too in ((hand, hand), (hand, robot.contact("arm_left_7_link", 3))):
        held_by = (*contacts, *held_too)
        rows = sum(len(contact.rows) for contact in held_by)
        at = constrained.equations(robot, q, v, contacts=held_by)
        assert constrained.rank(at)[0] < rows
        a, lam, *_ = interpret(trace(Task(robot, algorithm, contacts=held_by, parameters=("k",))), q, v, tau, k[:rows])
        assert balanced(robot, held_by, q, v, tau, a, lam) < 1e-9


@pytest.mark.parametrize(
    ("robot", "contacts", "algorithm", "saved"),
    besides(
        [("iiwa", ("lbr_iiwa_link_7:6",), "pv_early", 0.1)],
        [
            *(
                ("talos", ("left_sole_link:6", "right_sole_link:6"), *rest)
                for rest in (("pv", 0.15), ("pv_early", 0.1))
            ),
            ("go1", ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3"), "pv", 0.2),
            ("iiwa", ("lbr_iiwa_link_7:6",), "pv_early", 0.1),
        ],
    ),
)
def test_led_joints_save_operations(robot, contacts, algorithm, saved):
    model = codegen.load(robot)
    task = Task(model, algorithm, contacts=tuple(contact_of(model, text) for text in contacts))
    found = count(passes.run(trace(task))).total
    assert found < (1 - saved) * count(passes.run(trace(replace(task, without=("determined_joints",))))).total


@pytest.mark.parametrize("sizes", besides([[1e-2, 1.0, 1e2]], [[1.0, 1.0, 1.0], [1e-2, 1.0, 1e2], [1e-4, 1.0, 1.0]]))
def test_rows_of_unequal_length(sizes):
    """Whatever units rows are stated in, the robot moves as it does."""
    robot, rows = codegen.load("iiwa"), np.random.default_rng(5).standard_normal((3, 6))
    contacts = (robot.contact("lbr_iiwa_link_7", np.diag(sizes) @ rows),)
    assert determined_exactly(tree_of(robot, contacts))
    for seed in range(4):
        q, v, tau = robot.random(seed)
        expected = ORACLE["pv"](robot, q, v, tau, contacts=(robot.contact("lbr_iiwa_link_7", rows),))[0]
        a, *_, status = interpret(trace(Task(robot, "pv", contacts=contacts)), q, v, tau)
        assert worst(a[None], expected[None]) < 1e-11
        assert status == 0


def test_a_residual_is_told_by_rows_that_are_left(build):
    """Where the joint would lead by the only row, it does not: a NaN must show."""
    robot = codegen.load("iiwa")
    function = build(robot, "constrained_aba", contacts=["lbr_iiwa_link_7:rz"], iterations=None)
    q, v, tau = robot.random(0)
    assert np.isfinite(function(q, v, tau, 1e-9, 5)[3])
    tau[-1] = np.nan
    assert np.isnan(function(q, v, tau, 1e-9, 5)[3])


@pytest.mark.thorough
def test_short_levers_do_not_lead():
    """A point next to its hinge would make its link's inertia felt a million times as large."""
    model = codegen.load("go1")
    for lever, links in ((0.1, 1), (0.01, 0), (1e-7, 0), (0.0, 0)):
        near = model.with_frame("near", "FL_calf", (0.0, 0.0, -lever))
        contacts = (near.contact("near", 3),)
        assert len(determined_exactly(tree_of(near, contacts))) == links
        for algorithm in DIRECT:
            assert compared(near, contacts, algorithm) < TOLERANCE[algorithm]


def test_levers_are_short_where_all_joints_meet():
    """No offset says how large the robot is, but what is carried does."""
    model = mechanism(("revolute", "revolute"), 3, base="floating", branching=1.0)
    model = replace(model, bodies=tuple(replace(body, placement=Pose()) for body in model.bodies))
    for lever, links in ((1.0, 1), (1e-3, 0), (1e-7, 0)):
        contacts = (model.contact("body1", 3, points=[lever * np.array([0.3, 0.5, -0.2])]),)
        assert len(determined_exactly(tree_of(model, contacts))) == links
        assert compared(model, contacts, "pv") < TOLERANCE["pv"]


@pytest.mark.parametrize(("rows", "size"), diagonal([[1.0, 1.0], [1.0, 2.0], [1.0, 1.0, 1.0], [1.0, 0.0]], [1.0, 1e-6]))
def test_rows_that_repeat_the_one_that_leads(rows, size):
    """What is left of the others is nothing, and not what rounding makes of it."""
    robot = codegen.load("iiwa")
    row = size * np.array([0.3, 0.1, 0.7, 0.2, -0.5, 0.4])
    contacts = (robot.contact("lbr_iiwa_link_7", np.outer(rows, row)),)
    q, v, tau = robot.random(1)
    k = np.random.default_rng(0).standard_normal(len(rows))
    for algorithm in DIRECT:
        results = interpret(trace(Task(robot, algorithm, contacts=contacts, parameters=("k",))), q, v, tau, k)
        assert balanced(robot, contacts, q, v, tau, *results[:2]) < 1e-9
        assert algorithm == "pv_early" or 1 <= results[2] < len(rows)


@pytest.mark.parametrize("second", [0.0, 1e-9, np.pi, 2 * np.pi, 3 * np.pi])
@pytest.mark.parametrize("rows", ["x,y", 3])
def test_stretched_until_nothing_is_left(rows, second):
    """A straight arm of two links: the row that does not lead has nothing to push against."""
    robot = codegen.load("chain:2")
    contacts = (robot.contact("tip", rows),)
    q, v, tau = np.array([0.3, second]), np.array([0.1, 0.2]), np.array([1.0, 2.0])
    a, lam, status = interpret(trace(Task(robot, "pv", contacts=contacts)), q, v, tau)
    assert status >= 1
    assert balanced(robot, contacts, q, v, tau, a, lam) < 1e-9


@pytest.mark.parametrize("apart", [1e-3, 1e-8, 1e-12])
def test_a_weld_by_rows_that_almost_repeat_one_another(apart):
    robot, rng = codegen.load("iiwa"), np.random.default_rng(0)
    rows = rng.standard_normal((6, 6))
    rows[5] = rows[4] + apart * rng.standard_normal(6)
    contacts = (robot.contact("lbr_iiwa_link_7", rows),)
    q, v, tau = robot.random(1)
    a, lam, status = interpret(trace(Task(robot, "pv", contacts=contacts)), q, v, tau)
    assert balanced(robot, contacts, q, v, tau, a, lam) < 1e-9
    assert status == (apart < 1e-6)


@pytest.mark.parametrize(
    ("name", "welded", "held_too", "size"),
    besides(
        [("go1", "FL_calf", "RR_foot", 1e-6)],
        [
            *(("talos", "left_sole_link", "arm_left_4_link", size) for size in (1e-3, 1e-6)),
            ("go1", "FL_calf", "RR_foot", 1e-6),
        ],
    ),
)
def test_a_weld_beside_others_in_small_units(name, welded, held_too, size):
    robot = codegen.load(name)
    contacts = (robot.contact(welded, size * EYE), robot.contact(held_too, size * EYE[3:]))
    q, v, tau = robot.random(1)
    expected = ORACLE["pv"](robot, q, v, tau, contacts=contacts)
    for algorithm in DIRECT:
        found = interpret(trace(Task(robot, algorithm, contacts=contacts)), q, v, tau)
        assert max(worst(ours[None], theirs[None]) for ours, theirs in zip(found, expected, strict=False)) < 1e-9


def test_all_rows_may_lead():
    """A row on every tip that only its own joint feels: nothing is left to hold."""
    model = mechanism(("revolute",) * 6, 3, base="floating", branching=0.6)
    tips = tuple(model.contact(tip, "rz", axes="") for tip in model.tips)
    assert len(determined_exactly(tree_of(model, tips))) == len(tips)
    for algorithm in (*DIRECT, "constrained_aba"):
        assert compared(model, tips, algorithm, ("k",)) < TOLERANCE[algorithm]


def swivelling():
    """Welds at points of their hinges' axes, off the joints: of a tip, and of a link that carries another."""
    model = mechanism(("revolute",) * 14, 5, base="floating", branching=0.3, armature=True)
    for b in (6, 13):
        place = Pose(pose(np.random.default_rng(b)).rotation, vec3(0.3 * np.array(model.bodies[b].joint.axis)))
        model = replace(model, frames=(*model.frames, Frame(f"on{b}", b, place)))
    return model, (model.contact(f"on{6}", 6, kp=3.0), model.contact(f"on{13}", 6, axes="world"))


def test_swivels():
    robot, contacts = swivelling()
    assert len(determined_in_steps(tree_of(robot, contacts))) == 2
    given = (*GIVEN, "lam0", "mu")
    external = tuple(contact.frame.name for contact in contacts)
    assert compared(robot, contacts, "constrained_aba", given, iterations=12, external=external) < 1e-8


@pytest.mark.thorough
def test_swivels_compiled(build):
    robot, contacts = swivelling()
    function = build(robot, "constrained_aba", contacts=contacts, parameters=GIVEN, iterations=12)
    assert compared(robot, contacts, "constrained_aba", GIVEN, run=function, iterations=12) < 1e-8


@pytest.mark.parametrize("bent", besides([0.0], [0.0, 0.4]))
def test_swivels_keep_least_squares_and_multipliers(bent):
    """An arm that is stretched, and rows that contradict those of another link: from any multipliers, the nearest."""
    robot = codegen.load("iiwa")
    contacts = (robot.contact("lbr_iiwa_link_7", 6), robot.contact("lbr_iiwa_link_3", 3))
    q, v, tau = np.full(7, bent), np.zeros(7), robot.random(0)[2]
    at = constrained.equations(robot, q, v, contacts=contacts)
    assert constrained.rank(at)[0] < 9
    assert len(determined_in_steps(tree_of(robot, contacts))) == 1
    k, lam0 = np.random.default_rng(1).uniform(-0.5, 0.5, (2, 9))
    expected = constrained.solution(at, tau, k, lam0)
    task = Task(robot, "constrained_aba", contacts=contacts, parameters=("k", "lam0"), iterations=12)
    a, _ = interpret(trace(task), q, v, tau, k, lam0)
    assert worst(a[None], expected[0][None]) < 1e-7
    feasible = at.J @ expected[0] + at.drift  # what can be wanted: multipliers then come to rest
    wanted = constrained.solution(at, tau, feasible, lam0)
    a, lam = interpret(trace(task), q, v, tau, feasible, lam0)
    assert worst(a[None], wanted[0][None]) < 1e-7
    assert worst(lam[None], wanted[1][None]) < 1e-6


def test_joints_that_lead_one_after_the_other_are_stiffened_once():
    """A slider on a hinge: rows along and about the axis of both lead first the one, then the other."""
    model = mechanism(("revolute",) * 5, 2, base="floating", branching=0.0)
    *others, hinge, tip = model.bodies
    axis = tip.placement.R.T @ np.array(hinge.joint.axis)
    slider = replace(tip, joint=replace(tip.joint, type="prismatic", axis=vec3(axis)))
    model = replace(model, bodies=(*others, hinge, slider))
    contacts = (model.contact(tip.name, [[0, 0, 0, *axis], [*axis, 0, 0, 0], [1, 2, 3, 0, 0, 0]]),)
    for algorithm in (*DIRECT, "constrained_aba"):
        assert compared(model, contacts, algorithm, ("k",)) < TOLERANCE[algorithm]
