"""Derivatives of dynamics against the oracle's differences, and against Pinocchio's."""

from __future__ import annotations

from functools import cache

import interpreted
import numpy as np
import pinocchio as pin
import pinocchio_peer
import pytest
from mechanisms_cases import ALL_TYPES, mechanism, state
from thorough import besides, chosen

import codegen
import opcount
from codegen.ir.interpreter import interpret
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE
from codegen.oracle.derivatives import differences
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

INVERSE, FORWARD = "rnea_derivatives", "aba_derivatives"
QUICK = ("iiwa", "mini_cheetah", "six_bar")
ROBOTS = (
    *QUICK,
    *("go1", "talos", "tello_humanoid", "mit_humanoid", "four_bar_branch_2_5", "planar_leg_linkage", "jvrc1"),
)
NEAR = 1e-9


def worst(found, expected):
    """The largest error of a matrix over the largest entry of all that are expected."""
    scale = max(np.abs(x).max() for x in expected)
    return max(np.abs(x - y).max() for x, y in zip(found, expected, strict=False)) / scale


@cache
def graph(model, algorithm, **options):
    return trace(Task(model, algorithm, **options))


def agree(model, algorithm, states=2, **options):
    """Derivatives at random states equal the oracle's."""
    rng = np.random.default_rng(5)
    for _ in range(states):
        q, v, tau = model.random(rng)
        given = (q, v, rng.standard_normal(model.nv) if algorithm == INVERSE else tau)
        f_ext = [rng.standard_normal((len(names), 6)) for name, names in options.items() if name == "external"]
        found = interpret(graph(model, algorithm, **options), *given, *f_ext)
        expected = ORACLE[algorithm](model, *given, *f_ext, **options)
        near = max(NEAR, 10 * np.finfo(float).eps * np.linalg.cond(expected[2]))  # the oracle inverts M
        for mine, theirs in zip(found, expected, strict=False):
            assert worst([mine], [theirs]) < near or np.abs(theirs).max() < near


@pytest.mark.parametrize(
    ("robot", "algorithm"),
    chosen(lambda *case: case[0] in QUICK and case != ("mini_cheetah", FORWARD), ROBOTS, [INVERSE, FORWARD]),
)
def test_bundled_robots(robot, algorithm):
    if (robot, algorithm) == ("six_bar", FORWARD):
        pytest.skip("its forward dynamics are those of the inverse, one division further")
    agree(codegen.load(robot), algorithm)


@pytest.mark.parametrize("convention", ["pinocchio", "mujoco"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_every_joint_type(base, convention):
    """Off axis, with armatures, in both conventions of velocities."""
    agree(mechanism(ALL_TYPES, 4, base=base, convention=convention, armature=True), INVERSE)


def test_forward_dynamics_of_every_joint_type():
    agree(mechanism(ALL_TYPES[:4], 2, convention="mujoco", armature=True), FORWARD)


@pytest.mark.parametrize("convention", ["pinocchio", "mujoco"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_one_recursion_makes_what_inverse_dynamics_make_with_M(base, convention):
    """M da/dq = -dtau/dq and M da/dv = -dtau/dv for every joint type, of robots with so many that it pays."""
    model, rng = mechanism(ALL_TYPES, 4, base=base, convention=convention, armature=True), np.random.default_rng(6)
    q, v, tau = model.random(rng)
    frames = (model.frames[0].name, model.frames[-1].name)
    f_ext = rng.standard_normal((len(frames), 6))
    by_q, by_v, _ = interpret(graph(model, FORWARD, external=frames), q, v, tau, f_ext)
    a = ORACLE["aba"](model, q, v, tau, f_ext, external=frames)
    Q, V, M = interpret(graph(model, INVERSE, external=frames), q, v, a, f_ext)
    assert worst([-M @ by_q, -M @ by_v], [Q, V]) < NEAR


def test_external_wrenches():
    model = mechanism(("revolute", "spherical", "prismatic"), 7)
    agree(model, INVERSE, external=(model.frames[0].name, model.frames[-1].name))


def test_an_armature_behind_a_formula():
    """Ratios that change with the configuration: velocities and accelerations reach the armature by them."""
    model = mechanism(("revolute",) * 3, 3, armature=True)
    names = [body.joint.name for body in model.bodies]
    agree(codegen.Robot.of(model).with_loop("l", explicit={names[2]: f"sin({names[1]}) + 0.3*{names[1]}"}), INVERSE)


@pytest.mark.parametrize("case", besides([0, 1], range(12)))
def test_against_pinocchio(case):
    model = mechanism(ALL_TYPES, 20 + case, base="floating" if case % 2 else "fixed", armature=True)
    peer = pinocchio_peer.pinocchio_model(model)
    data = peer.createData()
    q, v, a, tau = state(model, case)
    x = pinocchio_peer.positions(model, q)
    pin.computeRNEADerivatives(peer, data, x, v, a)
    M = np.triu(data.M) + np.triu(data.M, 1).T
    found = interpret(graph(model, INVERSE), q, v, a)
    assert worst(found[:1], [data.dtau_dq]) < 1e-10
    assert worst(found[1:2], [data.dtau_dv]) < 1e-10
    assert worst(found[2:], [M]) < 1e-10
    pin.computeABADerivatives(peer, data, x, v, tau)
    found = interpret(graph(model, FORWARD), q, v, tau)
    Minv = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    for mine, theirs in zip(found, (data.ddq_dq, data.ddq_dv, Minv), strict=True):
        assert worst([mine], [theirs]) < 1e-9


def along_tangents(model, q):
    """The rates of q (nq x nv) from joint velocities, in Pinocchio's convention, by differences of `integrate`."""
    return differences(lambda d: ORACLE["integrate"](model, q, d), model.nv)


@pytest.mark.parametrize("robot", besides(["iiwa", "solo12"], ["iiwa", "solo12", "go1", "talos", "mechanism"]))
def test_complex_steps(robot):
    """The imaginary part of inverse dynamics at arguments with imaginary steps: neither AD, nor lost digits."""
    chosen = mechanism(ALL_TYPES, 4, base="floating", armature=True) if robot == "mechanism" else codegen.load(robot)
    q, v, _ = chosen.random(np.random.default_rng(7))
    a, n, h = np.random.default_rng(8).standard_normal(chosen.nv), chosen.nv, 1e-30
    plain, T = graph(chosen, "rnea"), along_tangents(chosen, q)
    states = [np.tile(x.astype(complex), (3 * n, 1)) for x in (q, v, a)]
    for k, moved in enumerate((T.T, np.eye(n), np.eye(n))):
        states[k][k * n : (k + 1) * n] += 1j * h * moved
    by = np.imag(interpret(plain, *states)[0]).T / h
    for mine, theirs in zip(interpret(graph(chosen, INVERSE), q, v, a), np.hsplit(by, 3), strict=True):
        assert worst([mine], [theirs]) < 1e-12


HELD = besides(
    [("iiwa", "pv", ("lbr_iiwa_link_7:3",)), ("iiwa", "prox_pv", ("lbr_iiwa_link_7:3:in=world:kp=20:kd=5",))],
    [
        ("iiwa", "pv", ("lbr_iiwa_link_7:3",)),
        ("iiwa", "prox_pv", ("lbr_iiwa_link_7:3:in=world:kp=20:kd=5",)),
        ("iiwa", "constrained_aba", ("lbr_iiwa_link_7:6", "lbr_iiwa_link_7:3")),
        ("solo12", "aba_prox", ("FL_FOOT:3", "HR_FOOT:3:in=base_link")),
        ("mini_cheetah", "tree_kkt", ("FL_foot_contact:3",)),
        ("tello_humanoid", "prox_ltl", ("left-foot:6",)),
    ],
)


@pytest.mark.parametrize(("robot", "algorithm", "texts"), HELD)
def test_constrained_dynamics(robot, algorithm, texts):
    """Rows along any axes, with feedback, stated twice, and on robots with loops."""
    model, rng = codegen.load(robot), np.random.default_rng(3)
    contacts = tuple(contact_of(model, text) for text in texts)
    q, v, tau = model.random(rng)
    derived = graph(model, f"{algorithm}_derivatives", contacts=contacts)
    more = [rng.standard_normal(port.shape) for port in derived.inputs[3:]]
    parameters = {port.name: value for port, value in zip(derived.inputs[3:], more, strict=True)}
    expected = ORACLE[f"{algorithm}_derivatives"](model, q, v, tau, contacts=contacts, parameters=parameters)
    found = interpret(derived, q, v, tau, *more)
    redundant = len(texts) > 1 and robot == "iiwa"  # multipliers are then not unique
    for mine, theirs in zip(found[: 3 if redundant else 6], expected, strict=False):
        assert worst([mine], [theirs]) < (1e-6 if redundant else 1e-8)


CONTRADICTING = besides(
    [("iiwa", "prox_pv", ("lbr_iiwa_link_7:6:in=world", "lbr_iiwa_link_7:3"), ("k", "lam0"))],
    [
        ("iiwa", "prox_pv", ("lbr_iiwa_link_7:6:in=world", "lbr_iiwa_link_7:3"), ("k", "lam0")),
        ("iiwa", "tree_kkt", ("lbr_iiwa_link_7:6:in=world", "lbr_iiwa_link_6:3:kp=20"), ("k", "lam0", "weight")),
        ("solo12", "aba_prox", ("FL_FOOT:6", "FL_LOWER_LEG:3", "HR_FOOT:3"), ("k", "lam0", "weight", "mu")),
        ("tello_humanoid", "prox_ltl", ("left-foot:6", "left-foot:3"), ("k",)),
    ],
)


@pytest.mark.parametrize(("robot", "algorithm", "texts", "parameters"), CONTRADICTING)
def test_rows_that_contradict_one_another(robot, algorithm, texts, parameters):
    """The least squares that the iteration settles at, weighed, and multipliers as near to the first as they can be."""
    model, rng = codegen.load(robot), np.random.default_rng(3)
    contacts = tuple(contact_of(model, text) for text in texts)
    q, v, tau = model.random(rng)
    derived = graph(model, f"{algorithm}_derivatives", contacts=contacts, parameters=parameters)
    drawn = {"weight": lambda shape: rng.uniform(0.3, 3.0, shape), "mu": lambda _: np.asarray(1e5)}
    more = {port.name: drawn.get(port.name, rng.standard_normal)(port.shape) for port in derived.inputs[3:]}
    found = interpret(derived, q, v, tau, *more.values())
    expected = ORACLE[f"{algorithm}_derivatives"](model, q, v, tau, contacts=contacts, parameters=more)
    for mine, theirs, near in zip(found, expected, 3 * [1e-8] + 3 * [1e-3], strict=False):
        assert worst([mine], [theirs]) < near


def test_soft_contacts():
    model, rng = codegen.load("iiwa"), np.random.default_rng(8)
    contacts, R = (contact_of(model, "lbr_iiwa_link_7:6"),), 10.0 ** rng.uniform(-2.0, 0.0, 6)
    q, v, tau = model.random(rng)
    found = interpret(graph(model, "pv_soft_derivatives", contacts=contacts, parameters=("R",)), q, v, tau, R)
    expected = ORACLE["pv_soft_derivatives"](model, q, v, tau, contacts=contacts, parameters={"R": R})
    for mine, theirs in zip(found, expected, strict=True):
        assert worst([mine], [theirs]) < 1e-8


def test_compiled():
    model = codegen.load("iiwa")
    function, rng = codegen.build(model, INVERSE), np.random.default_rng(1)
    q, v, _ = model.random(rng)
    a = rng.standard_normal(model.nv)
    found = function(q, v, a)
    assert found._fields == ("dtau_dq", "dtau_dv", "M")
    for mine, theirs in zip(found, interpreted.build(model, INVERSE)(q, v, a), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


@pytest.mark.parametrize(
    ("robot", "most"), besides([("iiwa", 1958), ("go1", 5400)], [("iiwa", 1958), ("go1", 5400), ("talos", 35100)])
)
def test_operations(robot, most):
    assert opcount.count(robot, INVERSE).total <= most


@pytest.mark.parametrize(
    ("robot", "most"), besides([("iiwa", 3957), ("go1", 16332)], [("iiwa", 3957), ("go1", 16332), ("talos", 164663)])
)
def test_operations_of_forward_dynamics(robot, most):
    """Those of Go1 were 19,351 with dtau/dq and dtau/dv, multiplied by L."""
    assert opcount.count(robot, FORWARD).total <= most


@pytest.mark.parametrize("robot", besides(["iiwa", "four_bar"], ["iiwa", "four_bar", "solo12", "mini_cheetah"]))
def test_factors_of_M(robot):
    """L has the zeros of branches, and with the derivatives it gives those of forward dynamics."""
    model, rng = codegen.load(robot), np.random.default_rng(4)
    q, v, tau = model.random(rng)
    a = ORACLE["aba"](model, q, v, tau)
    Q, V, L, D, *_ = interpret(graph(model, "rnea_derivatives_ltl"), q, v, a)
    M = ORACLE["crba"](model, q)
    np.testing.assert_allclose(L.T @ np.diag(D) @ L, M, rtol=0, atol=1e-12 * np.abs(M).max())
    assert np.array_equal(L, np.tril(L))
    assert np.array_equal(np.diag(L), np.ones(model.nv))
    by_q, by_v, _ = ORACLE["aba_derivatives"](model, q, v, tau)
    for mine, theirs in ((np.linalg.solve(M, -Q), by_q), (np.linalg.solve(M, -V), by_v)):
        assert worst([mine], [theirs]) < 1e-8


@pytest.mark.parametrize(
    ("robot", "most"), besides([("iiwa", 2080)], [("iiwa", 2080), ("go1", 6220), ("talos", 41500)])
)
def test_operations_with_factors(robot, most):
    assert opcount.count(robot, "rnea_derivatives_ltl").total <= most
