"""The frame in which a floating base is followed (`codegen.basing`): fewer operations, the same dynamics."""

from dataclasses import replace

import interpreted
import numpy as np
import pytest
from casadi import DM, SX
from thorough import besides

import codegen
from codegen.algorithms import ALGORITHMS
from codegen.api import graphs
from codegen.geometry import Pose, axis_rotation, mat3
from codegen.ir.counting import count
from codegen.ir.interpreter import interpret
from codegen.lowering.base_frame import ReframedBase, based

STATES = 4
HELD = ("left_sole_link:6", "wrist_right_ft_tool_link:6")
MOST = {"caba_osimf": 1.005}  # it forms L1 and K1 as well, of which the step's estimates know nothing
BASED = [name for name, entry in ALGORITHMS.items() if entry.needs().base_frame]


def own_frame(model, algorithm, **given):
    """A graph with the base followed in its own frame."""
    return graphs(model, algorithm, **given, without=["base_frame"])[1]


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", besides(("aba",), BASED))
def test_fewer_operations_and_the_same_results(algorithm):
    model, rng = codegen.load("talos"), np.random.default_rng(0)
    given = {"contacts": HELD} if ALGORITHMS[algorithm].group != "common" else {}
    before, after = own_frame(model, algorithm, **given), graphs(model, algorithm, **given)[1]
    assert count(after).total < MOST.get(algorithm, 1.0) * count(before).total
    states = [model.random(rng) for _ in range(STATES)]
    known = dict(zip(("q", "v", "tau"), map(np.array, zip(*states, strict=True)), strict=True))
    inputs = [known.get(port.name, rng.standard_normal((STATES, *port.shape))) for port in after.inputs]
    for old, new in zip(interpret(before, *inputs), interpret(after, *inputs), strict=True):
        np.testing.assert_allclose(new, old, rtol=0, atol=1e-8 * np.abs(old).max())


def test_what_comes_out_in_joint_space_keeps_its_coordinates():
    assert {"crba", "minverse", "jacobian", "rnea", "fk", "integrate", "difference"}.isdisjoint(BASED)


def test_origin_on_a_hinge_that_becomes_the_first_axis():
    talos = codegen.load("talos")
    pose = based(talos, [talos.contact("left_sole_link"), talos.contact("right_sole_link")], False, False)[0].pose
    np.testing.assert_array_equal(pose.R[:, 0], [0.0, 0.0, 1.0])
    hips = [body.placement.p for body in talos.bodies if body.parent == 0]
    assert any(np.array_equal(pose.p, hip) for hip in hips)


def test_four_legs_keep_offsets_of_one_pattern():
    """They are in step; on one of their hips the base's frame would leave each another pattern of zeros."""
    go1 = codegen.load("go1")
    feet = [go1.contact(f"{leg}_foot", 3) for leg in ("FL", "FR", "RL", "RR")]
    assert based(go1, feet, False, True) == based(go1, feet, True, True) == {}


def test_inertia_matrices_want_the_hinge_last_and_the_longest_limb():
    pose = based(codegen.load("talos"), (), True, True)[0].pose
    np.testing.assert_array_equal(pose.R, np.eye(3))
    np.testing.assert_array_equal(pose.p[:2], [0.0, 0.0])  # on the torso's hinge


@pytest.mark.parametrize("robot", ["iiwa", "chain:6"])
def test_fixed_bases_have_none(robot):
    assert based(codegen.load(robot), (), False, True) == {}


def test_armatures_and_velocities_along_world_axes_are_left_alone():
    talos = codegen.load("talos")
    base = talos.bodies[0]
    heavy = replace(base, joint=replace(base.joint, armature=0.1))
    assert based(replace(talos, bodies=(heavy, *talos.bodies[1:])), (), False, True) == {}
    assert based(replace(talos, convention="mujoco"), (), False, True) == {}


@pytest.mark.parametrize(
    ("robot", "held"), besides([("go1", ("FL_foot:3",))], [("go1", ("FL_foot:3",)), ("talos", HELD)])
)
def test_a_matrix_of_contacts_does_not_ask_for_the_convention(robot, held):
    model = codegen.load(robot)
    q = model.random(np.random.default_rng(0))[0]
    other = q[[0, 1, 2, 6, 3, 4, 5, *range(7, model.nq)]]  # the quaternion, its real part first
    W, same = (
        interpret(interpreted.graph(replace(model, convention=convention), "pv_osim", contacts=held), given)[0]
        for convention, given in (("pinocchio", q), ("mujoco", other))
    )
    np.testing.assert_allclose(same, W, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("linear_first", [False, True])
def test_power_and_moves_do_not_depend_on_the_frame(linear_first):
    rng = np.random.default_rng(1)
    own = codegen.load("go1").joints[0]
    pose = Pose(mat3(axis_rotation(1, 0.6, 0.8)), (0.1, -0.2, 0.3))
    joint = ReframedBase(own, pose, linear_first)
    q, (v, tau) = SX(DM(joint.random(rng, -1.0, 1.0))), (SX(DM(rng.standard_normal(6))) for _ in range(2))

    def number(x):
        return np.array(DM(x)).ravel()

    np.testing.assert_allclose(number(joint.motion(q, v).T @ joint.force(q, tau)), number(v.T @ tau), rtol=1e-13)
    np.testing.assert_allclose(number(joint.outwards(q, joint.motion(q, v))), number(v), rtol=1e-13)
    step = joint.integrate(q, joint.motion(q, v))
    np.testing.assert_allclose(number(step), number(own.integrate(q, v)), rtol=1e-13)
    np.testing.assert_allclose(number(joint.difference(q, step)), number(joint.motion(q, v)), rtol=1e-12)
