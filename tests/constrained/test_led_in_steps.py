"""Proximal algorithms leave out the joints that contacts lead: least squares, weights and multipliers stay theirs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from casadi import DM, SX, Function
from mechanisms_cases import mechanism
from scenarios import DIRECT, DUAL, PRIMAL, worst
from test_led import held, tree_of
from test_stated import GIVEN, compared
from thorough import besides, diagonal

import codegen
from codegen import passes
from codegen.elimination.detect import determined_exactly, determined_in_steps
from codegen.elimination.eliminate import eliminate
from codegen.elimination.links import LeveredLink, SwivelLink
from codegen.geometry import Pose
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE, constrained
from codegen.spatial import reflections, zeros
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

PROXIMAL = (*DUAL, *PRIMAL)
SOLES = ("left_sole_link:6", "right_sole_link:6")


def rows_left(robot, contacts):
    """How many rows of each contact are left when nothing leads any more."""
    tree = tree_of(robot, contacts)
    tau = {i: zeros(S.size) for i, S in enumerate(tree.S)}
    rest = eliminate(tree, tree.stack([zeros(6) for _ in tree.parts]), tau, zeros(tree.m), determined_in_steps)
    return [contact.size for contact in rest.tree.contacts]


@pytest.mark.parametrize(
    ("seed", "algorithm", "armature"),
    besides([(1, "aba_prox", True), (3, "constrained_aba", False)], [*product(range(4), PROXIMAL, [False, True])]),
)
def test_random_trees(seed, algorithm, armature):
    robot, contacts = held(seed, armature)
    assert determined_in_steps(tree_of(robot, contacts))
    external = tuple(contact.frame.name for contact in contacts)
    given = (*GIVEN, "lam0", "mu")
    assert compared(robot, contacts, algorithm, given, iterations=12, external=external) < 1e-7


@pytest.mark.parametrize("algorithm", besides(["prox_pv"], PROXIMAL))
def test_numbers_that_stay_arguments(algorithm):
    """A payload on a led link, its joint elsewhere, and gravity."""
    robot = codegen.load("go1")
    contacts = tuple(contact_of(robot, text) for text in ("FL_foot:3", "RR_calf:6"))
    given = {
        "gravity": [1.0, -2.0, -9.0],
        "payload:FL_calf": [1.5, 0.1, 0.02, -0.1, 0.02, 0.03, 0.04, 0.001, 0.002, -0.003],
        "offset:FL_calf_joint": [0.02, -0.03, -0.2],
    }
    q, v, tau = robot.random(3)
    task = Task(robot, algorithm, contacts=contacts, parameters=tuple(given), iterations=8)
    found = interpret(trace(task), q, v, tau, *given.values())
    expected = ORACLE[algorithm](robot, q, v, tau, contacts=contacts, parameters=given)
    assert max(worst(ours[None], theirs[None]) for ours, theirs in zip(found, expected, strict=False)) < 1e-8


@pytest.mark.parametrize("algorithm", besides(["constrained_aba"], PROXIMAL))
def test_compiled_until_it_has_settled(build, algorithm):
    """Soles off their hinges, a hand with a gripper on it, a point, and as many iterations as it takes."""
    robot = codegen.load("talos")
    contacts = tuple(contact_of(robot, text) for text in (*SOLES, "wrist_left_ft_tool_link:6", "arm_right_5_link:3"))
    function = build(robot, algorithm, contacts=contacts, parameters=("k", "lam0"), iterations=None)
    for seed in range(3):
        q, v, tau = robot.random(seed)
        k, lam0 = np.random.default_rng(seed).uniform(-1.0, 1.0, (2, 21))
        expected = constrained.solution(constrained.equations(robot, q, v, contacts=contacts), tau, k, lam0)
        a, lam, iterations, residual = function(q, v, tau, k, lam0, 1e-9, 50)
        assert worst(a[None], expected[0][None]) < 1e-8
        assert worst(lam[None], expected[1][None]) < 1e-7
        assert iterations < 12
        assert residual < 1e-9


def test_frames_off_their_hinges_lead_two_joints():
    """The ankle's roll by a lever, its pitch by one that the roll's angle moves, but never lets vanish."""
    robot = codegen.load("talos")
    contacts = tuple(contact_of(robot, text) for text in SOLES)
    links = determined_in_steps(tree_of(robot, contacts))
    assert all(type(link) is LeveredLink and len(link.across) == 2 for link in links.values())
    assert rows_left(robot, contacts) == [4, 4]
    on_hinges = tuple(robot.contact(f"leg_{side}_6_link", 6) for side in ("left", "right"))
    assert all(type(link) is SwivelLink for link in determined_in_steps(tree_of(robot, on_hinges)).values())
    assert rows_left(robot, on_hinges) == [4, 4]


@pytest.mark.parametrize(("far", "left"), besides([], [(0.0, 4), (1e-9, 4), (0.1, 4), (4.0, 5)]))
def test_levers_that_an_angle_makes_short_do_not_lead(far, left):
    """Far off the hinge, what a frame's own turn does is little beside what its lever does at other angles."""
    robot = codegen.load("talos").with_frame("off", "leg_left_6_link", (0.0, 0.0, -far))
    contacts = (robot.contact("off", 6),)
    assert rows_left(robot, contacts) == [left]
    for algorithm in PROXIMAL:
        assert compared(robot, contacts, algorithm, iterations=8) < 1e-8


@pytest.mark.parametrize("algorithm", besides(["aba_prox"], PROXIMAL))
def test_sliders_have_no_angle(algorithm):
    """Behind a slider the next hinge's lever is as long as the slider has gone."""
    model = mechanism(("revolute",) * 6, 4, base="floating", branching=0.0)
    *others, tip = model.bodies
    model = replace(model, bodies=(*others, replace(tip, joint=replace(tip.joint, type="prismatic"))))
    contacts = (model.contact("tool5", 3),)
    assert len(determined_in_steps(tree_of(model, contacts))) == 1
    assert rows_left(model, contacts) == [2]
    assert compared(model, contacts, algorithm, GIVEN, iterations=12) < 1e-8


@pytest.mark.parametrize(
    ("bent", "algorithm"), besides([(0.0, "tree_kkt"), (0.4, "aba_prox")], [*product([0.0, 0.4], PROXIMAL)])
)
def test_least_squares_and_multipliers(algorithm, bent):
    """A stretched arm held off its hinge, beside rows that contradict: from any multipliers, the nearest."""
    robot = codegen.load("iiwa").with_frame("off", "lbr_iiwa_link_7", (0.1, 0.05, 0.08))
    contacts = (robot.contact("off", 6), robot.contact("lbr_iiwa_link_3", 3))
    q, v, tau = np.full(7, bent), np.zeros(7), robot.random(0)[2]
    at = constrained.equations(robot, q, v, contacts=contacts)
    assert constrained.rank(at)[0] < 9
    assert len(determined_in_steps(tree_of(robot, contacts))) == 1
    k, lam0 = np.random.default_rng(1).uniform(-0.5, 0.5, (2, 9))
    nearest = constrained.solution(at, tau, k, lam0)[0]
    task = Task(robot, algorithm, contacts=contacts, parameters=("k", "lam0"), iterations=12)
    a, _ = interpret(trace(task), q, v, tau, k, lam0)
    assert worst(a[None], nearest[None]) < 1e-7
    feasible = at.J @ nearest + at.drift  # what can be wanted: multipliers then come to rest
    wanted = constrained.solution(at, tau, feasible, lam0)
    a, lam = interpret(trace(task), q, v, tau, feasible, lam0)
    assert worst(a[None], wanted[0][None]) < 1e-7
    assert worst(lam[None], wanted[1][None]) < 1e-6


@pytest.mark.parametrize("algorithm", besides(["prox_pv", "tree_kkt"], PROXIMAL))
def test_weighted_rows_lead_nothing(algorithm):
    """Turns would mix rows of unequal weight: where they contradict one another, weighted least squares."""
    robot = codegen.load("iiwa")
    contacts = (robot.contact("lbr_iiwa_link_7", 6), robot.contact("lbr_iiwa_link_6", 3))
    q, v, tau = robot.random(2)
    k, weight = np.random.default_rng(0).uniform(0.5, 2.0, (2, 9))
    task = Task(robot, algorithm, contacts=contacts, parameters=("k", "weight"), iterations=20)
    a, *_ = interpret(trace(task), q, v, tau, k, weight)
    expected = ORACLE[algorithm](robot, q, v, tau, contacts=contacts, parameters={"k": k, "weight": weight})
    assert worst(a[None], expected[0][None]) < 1e-7


@pytest.mark.parametrize(
    ("robot", "contacts", "algorithm", "saved"),
    besides(
        [("iiwa", ("lbr_iiwa_link_7:6",), "aba_prox_stiff", 0.11)],
        [
            ("go1", ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3"), "aba_prox", 0.14),
            ("go1", ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3"), "aba_prox_stiff", 0.058),
            ("iiwa", ("lbr_iiwa_link_7:6",), "aba_prox_stiff", 0.11),
            ("talos", SOLES, "prox_pv", 0.1),
            ("talos", (*SOLES, "wrist_left_ft_tool_link:6", "wrist_right_ft_tool_link:6"), "tree_kkt", 0.19),
        ],
    ),
)
def test_led_joints_save_operations(robot, contacts, algorithm, saved):
    model = codegen.load(robot)
    task = Task(model, algorithm, contacts=tuple(contact_of(model, text) for text in contacts), iterations=3)
    found = count(passes.run(trace(task))).total
    assert found < (1 - saved) * count(passes.run(trace(replace(task, without=("determined_joints",))))).total


@pytest.mark.parametrize("entries", [(3.0, -4.0), (0.0, 2.0), (-1e-40, 1e-40), (1.0, 2.0, -2.0), (0.0, 0.0, 0.0)])
def test_reflections_are_orthogonal(entries):
    """Of two rows by a matrix, of more by Householder's vector; and where there is nothing to reflect."""
    n = len(entries)
    x = SX.sym("x", n)
    Q, R = reflections(x)
    of = Function("of", [x], [Q.rows(SX.eye(n)), Q.back(SX.eye(n)), R])
    rows, back, triangle = (np.array(DM(y)) for y in of(np.array(entries)))
    assert np.allclose(rows @ rows.T, np.eye(n), atol=1e-15)
    assert np.allclose(back, rows.T, atol=1e-15)
    assert np.allclose(rows @ np.array(entries), np.append(triangle, np.zeros(n - 1)), atol=1e-15)


@pytest.mark.parametrize(
    ("algorithm", "rows"), diagonal([*DIRECT, *PROXIMAL], [[0, 0, 4], [0, 4, 0, 3], [1, 1, 4], [0, 1, 0, 4]])
)
def test_moments_stated_twice_are_no_pair(algorithm, rows):
    """Moments about both axes across a hinge are only mixed by its turn, but not two about one of them."""
    robot = codegen.load("iiwa").with_frame("off", "lbr_iiwa_link_7", (0.3, 0.0, 0.1))
    contacts = (robot.contact("off", np.eye(6)[rows]),)
    q, v, tau = robot.random(0)
    k = np.full(len(rows), 0.3)
    task = Task(robot, algorithm, contacts=contacts, parameters=("k",), iterations=12)
    a, *_ = interpret(trace(task), q, v, tau, k)
    expected = ORACLE[algorithm](robot, q, v, tau, contacts=contacts, parameters={"k": k})
    assert worst(a[None], expected[0][None]) < 1e-8


@pytest.mark.parametrize(("algorithm", "rows"), diagonal(PROXIMAL, ["x,y", 3, 6]))
def test_one_joint_is_left(algorithm, rows):
    robot = codegen.load("chain:2")
    found = compared(robot, (robot.contact("tip", rows),), algorithm, iterations=12, redundant=rows != "x,y")
    assert found < 1e-8


@pytest.mark.parametrize("algorithm", besides(["aba_prox", "constrained_aba"], PROXIMAL))
def test_every_contact_keeps_a_row_that_tells_its_residual(build, algorithm):
    """Two arms that share nothing: of a NaN in the one, the other's rows know nothing."""
    model = mechanism(("revolute",) * 4, 3, base="fixed", branching=0.0)
    bodies, nodes = list(model.bodies), list(model.nodes)
    bodies[2], nodes[2] = replace(bodies[2], parent=-1), replace(nodes[2], parent=-1)
    model = replace(model, bodies=tuple(bodies), nodes=tuple(nodes))
    contacts = (model.contact("tool1", "rz"), model.contact("tool3", "x"))
    function = build(model, algorithm, contacts=contacts, iterations=None)
    q, v, tau = model.random(0)
    assert np.isfinite(function(q, v, tau, 1e-9, 20)[3])
    tau[1] = np.nan
    assert np.isnan(function(q, v, tau, 1e-9, 20)[3])


@pytest.mark.parametrize("size", [1.0, 1e-10])
def test_sliders_have_no_angle_in_any_units(size):
    """A slider far beyond a hinge, whose lever is steady over a turn's worth of metres, and nothing further back."""
    types = ("revolute", "revolute", "revolute", "prismatic")
    model = mechanism(types, 1, base="floating", branching=0.0)
    axes = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    places = [body.placement if b < 1 else Pose(translation=(0.3, 0.0, 0.0)) for b, body in enumerate(model.bodies)]
    places[-1] = Pose(translation=(3.0, 0.0, 0.0))
    moving = zip(model.bodies[-4:], axes, strict=True)
    turned = [replace(body, joint=replace(body.joint, axis=axis)) for body, axis in moving]
    bodies = (*model.bodies[:-4], *turned)
    model = replace(model, bodies=tuple(replace(b, placement=at) for b, at in zip(bodies, places, strict=True)))
    contacts = (model.contact("body4", size * np.eye(6)[[3, 5, 2]]),)
    assert rows_left(model, contacts) == [2]


@pytest.mark.parametrize("tilt", besides([1e-9], [0.0, 1e-9, 1e-5]))
@pytest.mark.parametrize("algorithm", besides(["pv", "aba_prox_stiff"], ["pv", *PROXIMAL]))
def test_moments_almost_across_the_hinge_do_not_lead(algorithm, tilt):
    """A hinge's rows, about an axis that is hardly another one: they would lead by next to nothing."""
    robot = codegen.load("iiwa").with_frame("off", "lbr_iiwa_link_7", (0.0, 0.0, 0.1), rpy=(tilt, 0.0, 0.0))
    contacts = (robot.contact("off", np.eye(6)[[0, 1]]),)
    assert not determined_in_steps(tree_of(robot, contacts))
    assert not determined_exactly(tree_of(robot, contacts))
    assert compared(robot, contacts, algorithm, ("k",), iterations=12) < 1e-8
