"""Steps of time and derivatives on the configuration manifold: against the oracle, Pinocchio, MuJoCo, and orders."""

from __future__ import annotations

from functools import cache

import mujoco_peer
import numpy as np
import pinocchio as pin
import pinocchio_peer
import pytest
from casadi import SX, Function, jtimes
from mechanisms_cases import ALL_TYPES, mechanism, state
from test_derivatives import graph, worst
from thorough import besides, diagonal

import codegen
from codegen.errors import RobotError
from codegen.geometry import Pose
from codegen.ir.interpreter import interpret
from codegen.joints import JOINTS
from codegen.lowering.reframed_base import ReframedBase
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

INTEGRATORS = {"": 1, "_rk4": 4, "_implicit_midpoint": 2}  # endings of names, and orders
CONVENTIONS = ("pinocchio", "mujoco")
DT, NEAR = 5e-3, 1e-10


@cache
def turning(convention, *types, base="fixed", seed=3):
    """A small robot whose joints turn about several axes."""
    return mechanism(types or ("spherical", "revolute"), seed, base=base, convention=convention, armature=True)


def agree(model, name, near=NEAR, dt=DT, seed=5, **options):
    """A step, or its derivatives, at a random state equal the oracle's."""
    rng = np.random.default_rng(seed)
    q, v, tau = model.random(rng)
    more = [rng.standard_normal((len(names), 6)) for option, names in options.items() if option == "external"]
    found = interpret(graph(model, name, **options), q, v, tau, dt, *more)
    expected = ORACLE[name](model, q, v, tau, dt, *more, **options)
    for mine, theirs in zip(found, expected, strict=False):
        assert worst([mine], [theirs]) < near


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.0499, 0.0501, 1.0, 3.0])
def test_steps_on_the_manifold(convention, size):
    """Either side of the switch to series, and at no turn at all, where everything is exact."""
    model = turning(convention, *ALL_TYPES, base="floating")
    q, v, _, _ = state(model, 1)
    for body, own in zip(model.bodies, model.v_slices, strict=True):
        turns = {"spherical": v[own], "floating": v[own][3:], "planar": v[own][2:]}.get(body.joint.type, v[own])
        turns *= size / np.linalg.norm(turns)
    found = interpret(graph(model, "integrate_derivatives"), q, v)
    for mine, theirs in zip(found, ORACLE["integrate_derivatives"](model, q, v), strict=True):
        assert np.abs(mine - theirs).max() < 1e-13
    q1 = ORACLE["integrate"](model, q, v)
    found = interpret(graph(model, "difference_derivatives"), q, q1)
    for mine, theirs in zip(found, ORACLE["difference_derivatives"](model, q, q1), strict=True):
        assert np.abs(mine - theirs).max() < 1e-12


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_brackets_are_how_the_end_of_a_short_step_moves_with_its_start(convention):
    """Of every joint, and of floating ones of which another frame is followed."""
    u, v = np.random.default_rng(4).standard_normal((2, 6))
    pose = Pose(((0.0, 0.6, -0.8), (0.0, 0.8, 0.6), (1.0, 0.0, 0.0)), (0.1, -0.3, 0.2))
    made = [factory((0.0, 0.0, 1.0), convention) for factory in JOINTS.values()]
    free = JOINTS["floating"]((0.0, 0.0, 1.0), "pinocchio")
    for joint in (*made, *(ReframedBase(free, pose, first) for first in (True, False))):
        x, s = SX.sym("x", joint.nv), SX.sym("s")
        moved = jtimes(joint.integrate_derivatives(s * x)[0] @ v[: joint.nv], s, SX(1))
        both = Function("both", [x, s], [joint.bracket(x, SX(v[: joint.nv])), -moved])(u[: joint.nv], 0)
        assert np.abs(np.array(both[0]) - np.array(both[1])).max() < 1e-13


@pytest.mark.parametrize("seed", range(3))
def test_against_pinocchio(seed):
    model = turning("pinocchio", *ALL_TYPES, base="floating", seed=seed)
    peer = pinocchio_peer.pinocchio_model(model)
    q, v, _, _ = state(model, seed)
    x, ends = pinocchio_peer.positions(model, q), (pin.ArgumentPosition.ARG0, pin.ArgumentPosition.ARG1)
    for mine, end in zip(interpret(graph(model, "integrate_derivatives"), q, v), ends, strict=True):
        assert np.abs(mine - pin.dIntegrate(peer, x, v, end)).max() < 1e-12
    q1 = ORACLE["integrate"](model, q, v)
    y = pinocchio_peer.positions(model, q1)
    for mine, end in zip(interpret(graph(model, "difference_derivatives"), q, q1), ends, strict=True):
        theirs = pin.dDifference(peer, x, y, end)
        assert np.abs(mine - theirs).max() < 1e-12 * max(1.0, np.abs(theirs).max())


@pytest.mark.parametrize(("ending", "convention"), diagonal(list(INTEGRATORS), CONVENTIONS))
@pytest.mark.parametrize("derived", ["", "_derivatives"])
def test_joints_that_turn_about_several_axes(ending, convention, derived):
    agree(turning(convention), f"step{ending}{derived}")


@pytest.mark.thorough
@pytest.mark.parametrize("ending", INTEGRATORS)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_joint_type(ending, convention):
    model = turning(convention, "revolute", "planar", "spherical", "prismatic", base="floating")
    agree(model, f"step{ending}")
    agree(model, f"step{ending}_derivatives", near=1e-9)


@pytest.mark.parametrize(
    ("robot", "name"),
    besides(
        [("iiwa", "step_rk4"), ("planar_leg_linkage", "step"), ("planar_leg_linkage", "step_derivatives")],
        [
            (robot, f"step{ending}{derived}")
            for robot in ("iiwa", "mini_cheetah", "planar_leg_linkage", "go1")
            for ending in INTEGRATORS
            for derived in ("", "_derivatives")
        ],
    ),
)
def test_bundled_robots(robot, name):
    """Also with loops, whose independent coordinates go on and whose others follow."""
    agree(codegen.load(robot), name, near=1e-8, dt=1e-3)


HELD = {"pv": "tool2:3", "pv_soft": "tool2:3", "prox_pv": "tool2:3:kp=20:kd=5", "constrained_aba": "tool2:3"}


@pytest.mark.parametrize(
    ("dynamics", "ending", "derived"),
    besides(
        [
            ("prox_pv", "", ""),
            ("prox_pv", "", "_derivatives"),
            ("pv", "_implicit_midpoint", ""),
            ("pv_soft", "_rk4", ""),
        ],
        [(name, ending, derived) for name in HELD for ending in INTEGRATORS for derived in ("", "_derivatives")],
    ),
)
def test_contacts(dynamics, ending, derived):
    """Rows with feedback too, whose targets are arguments."""
    model = mechanism(("revolute",) * 4, 2, branching=0.0)
    contacts, rng = (contact_of(model, HELD[dynamics]),), np.random.default_rng(4)
    q, v, tau = model.random(rng)
    name = f"{dynamics}_step{ending}{derived}"
    taken = graph(model, name, contacts=contacts, iterations=5)
    more = {port.name: 0.1 * rng.standard_normal(port.shape) for port in taken.inputs[4:]}
    expected = ORACLE[name](model, q, v, tau, 1e-3, contacts=contacts, parameters=more)
    for mine, theirs in zip(interpret(taken, q, v, tau, 1e-3, *more.values()), expected, strict=False):
        assert worst([mine], [theirs]) < 1e-7


def test_wrenches_and_numbers_of_the_robot_are_constant_over_a_step():
    model, rng = turning("pinocchio"), np.random.default_rng(9)
    agree(model, "step_rk4_derivatives", external=("tool1",))
    q, v, tau = model.random(rng)
    gravity = rng.standard_normal(3)
    found = interpret(graph(model, "step_implicit_midpoint", parameters=("gravity",)), q, v, tau, DT, gravity)
    expected = ORACLE["step_implicit_midpoint"](model, q, v, tau, DT, parameters={"gravity": gravity})
    assert worst(found[:2], expected) < NEAR


def after(model, name, q, v, tau, dt, steps):
    """The state after so many steps."""
    taken = graph(model, name)
    for _ in range(steps):
        q, v = interpret(taken, q, v, tau, dt)[:2]
    return q, v


@pytest.mark.parametrize(("ending", "order"), INTEGRATORS.items())
def test_orders(ending, order):
    """Errors at a fixed time shrink with the order's power of dt, on joints that turn about several axes."""
    model = turning("pinocchio", "spherical")
    q, v, tau = model.random(np.random.default_rng(2))
    exact = after(model, "step_rk4", q, v, tau, 0.32 / 128, 128)
    errors = []
    for steps in (8, 16):
        end = after(model, f"step{ending}", q, v, tau, 0.32 / steps, steps)
        errors.append(np.abs(np.append(ORACLE["difference"](model, exact[0], end[0]), end[1] - exact[1])).max())
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.35


def test_a_free_body_keeps_its_energy():
    """The implicit midpoint rule conserves the kinetic energy of a body that turns freely, over long steps."""
    model = codegen.Robot.of(mechanism(("spherical",), 3))
    q, v, _ = model.random(np.random.default_rng(2))
    taken = graph(model, "step_implicit_midpoint", iterations=6, parameters=("gravity",))
    M, still, energies = ORACLE["crba"](model, q), np.zeros(3), []
    for _ in range(15):
        energies.append(float(v @ M @ v) / 2)
        q, v = interpret(taken, q, v, still, 0.1, still)[:2]
    assert np.ptp(energies) < 1e-12 * energies[0]


def test_midpoint_is_symmetric():
    """A step back leads to where it came from."""
    model = turning("mujoco")
    q, v, tau = model.random(np.random.default_rng(6))
    taken = graph(model, "step_implicit_midpoint", iterations=6)
    forth = interpret(taken, q, v, tau, 0.02)[:2]
    back = interpret(taken, *forth, tau, -0.02)[:2]
    np.testing.assert_allclose(back[1], v, rtol=0, atol=1e-11)
    np.testing.assert_allclose(ORACLE["difference"](model, q, back[0]), 0, atol=1e-11)


def test_semi_implicit_euler_is_mujocos():
    import mujoco

    model = mechanism(("revolute", "spherical", "prismatic"), 7, base="floating", convention="mujoco", armature=True)
    peer = mujoco_peer.mujoco_model(model)
    q, v, _, tau = state(model, 3)
    peer.opt.timestep, peer.opt.integrator = 0.01, mujoco.mjtIntegrator.mjINT_EULER
    peer.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco_peer.at(peer, q, v)
    data.qfrc_applied[:] = tau
    mujoco.mj_step(peer, data)
    q_next, v_next = interpret(graph(model, "step"), q, v, tau, 0.01)[:2]
    np.testing.assert_allclose(v_next, data.qvel, rtol=0, atol=1e-11)
    np.testing.assert_allclose(ORACLE["difference"](model, q_next, data.qpos), 0, atol=1e-11)


def test_compiled_and_to_a_tolerance():
    model = codegen.Robot.of(turning("pinocchio"))
    q, v, tau = model.random(1)
    expected = ORACLE["step_implicit_midpoint"](model, q, v, tau, 0.02)
    found = codegen.build(model, "step", integrator="implicit_midpoint")(q, v, tau, 0.02)
    np.testing.assert_allclose(found.v_next, expected[1], rtol=0, atol=1e-9)
    until = codegen.build(model, "step", integrator="implicit_midpoint", iterations=None)
    found = until(q, v, tau, 0.02, tol=1e-12, max_iter=20)
    assert found.residual <= 1e-12
    assert 2 <= found.iterations <= 5
    np.testing.assert_allclose(found.v_next, expected[1], rtol=0, atol=1e-12)


def test_integrators_by_name():
    model = turning("pinocchio")
    names = [codegen.api.task(model, "step", integrator=name).algorithm for name in codegen.algorithms.INTEGRATORS]
    assert names == ["step", "step_rk4", "step_implicit_midpoint"]
    task = codegen.api.task(model, "prox_pv_step_derivatives", integrator="rk4")
    assert task.algorithm == "prox_pv_step_rk4_derivatives"
    with pytest.raises(RobotError, match="choose one of"):
        codegen.graphs(model, "step", integrator="rk5")
    with pytest.raises(RobotError, match="no step of time"):
        codegen.graphs(model, "aba", integrator="rk4")


def test_operations():
    """A step costs little more than its dynamics; stages and Newton's steps their number of times."""
    counts = {name: len(trace(Task(codegen.load("chain:4"), name)).values) for name in ("aba", "step", "step_rk4")}
    assert counts["step"] < 1.2 * counts["aba"]
    assert counts["step_rk4"] < 4.5 * counts["aba"]
