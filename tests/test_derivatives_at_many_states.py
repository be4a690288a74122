"""Derivatives at many states of several robots: against Pinocchio's, differences of its dynamics, and the oracle's."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pinocchio_peer
import pytest
from mechanisms_cases import ALL_TYPES, mechanism
from thorough import besides

import codegen
from codegen.errors import RobotError
from codegen.ir.interpreter import interpret
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE
from codegen.oracle.derivatives import differences
from codegen.tracing.directional import traced
from codegen.tracing.form import Form
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

STATES, AT_ONCE, LOOPED = 1000, 50, 20
NEAR, SETTLED = 1e-10, 1e-8
LIMIT = 1e-8  # of differences close to singular states
FREE = ("iiwa", "solo12", "mechanism", "talos")
SINGULAR = 1e6  # condition of M, or of W, from which a state counts as almost singular


@cache
def loaded(robot):
    return mechanism(ALL_TYPES, 20, base="floating", armature=True) if robot == "mechanism" else codegen.load(robot)


def drawn(model, number):
    """Random states, one below the other: q, v, tau."""
    rng = np.random.default_rng(11)
    return [np.stack(parts) for parts in zip(*(model.random(rng) for _ in range(number)), strict=True)]


def evaluated(task, arrays):
    """The results of a task's graph at many states, some at once."""
    graph, number = trace(task), len(arrays[0])
    parts = [interpret(graph, *(x[k : k + AT_ONCE] for x in arrays)) for k in range(0, number, AT_ONCE)]
    return [np.concatenate(x) for x in zip(*parts, strict=True)]


def error(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


def symmetric(upper):
    return np.triu(upper) + np.triu(upper, 1).T


@pytest.mark.parametrize("robot", besides([], ["iiwa", "solo12", "mechanism", "talos"]))
def test_inverse_dynamics(robot):
    model = loaded(robot)
    peer, (q, v, a) = pinocchio_peer.pinocchio_model(model), drawn(model, STATES)
    data, worst = peer.createData(), 0.0
    found = evaluated(Task(model, "rnea_derivatives"), (q, v, a))
    for n in range(STATES):
        pin.computeRNEADerivatives(peer, data, pinocchio_peer.positions(model, q[n]), v[n], a[n])
        for mine, theirs in zip(found, (data.dtau_dq, data.dtau_dv, symmetric(data.M)), strict=False):
            worst = max(worst, error(mine[n], theirs))
    assert worst < NEAR


@pytest.mark.parametrize("robot", besides([], ["iiwa", "solo12", "mechanism"]))
def test_forward_dynamics(robot):
    """But where M is almost singular: of these random states none is."""
    model = loaded(robot)
    peer, (q, v, tau) = pinocchio_peer.pinocchio_model(model), drawn(model, STATES)
    data, worst, left = peer.createData(), 0.0, []
    found = evaluated(Task(model, "aba_derivatives"), (q, v, tau))
    for n in range(STATES):
        pin.computeABADerivatives(peer, data, pinocchio_peer.positions(model, q[n]), v[n], tau[n])
        Minv = symmetric(data.Minv)
        if np.linalg.cond(Minv) > SINGULAR:
            left.append(n)
            continue
        for mine, theirs in zip(found, (data.ddq_dq, data.ddq_dv, Minv), strict=False):
            worst = max(worst, error(mine[n], theirs))
    assert worst < NEAR
    assert not left, f"almost singular: {left}"


@pytest.mark.parametrize(("robot", "states"), besides([("iiwa", 10)], [("iiwa", 10), *((r, STATES) for r in FREE)]))
def test_frames_and_momentum(robot, states):
    """Of the velocities and accelerations of tips, and of the rate of centroidal momentum."""
    model = loaded(robot)
    peer, (q, v, a) = pinocchio_peer.pinocchio_model(model), drawn(model, states)
    velocities, motions, momenta = (
        evaluated(Task(model, name), (q, v, a)[:inputs])
        for name, inputs in (
            ("fk_derivatives", 2),
            ("frame_acceleration_derivatives", 3),
            ("centroidal_derivatives", 3),
        )
    )
    data, worst = peer.createData(), 0.0
    for n in range(states):
        x = pinocchio_peer.positions(model, q[n])
        _, v_q, v_v, a_q, a_v, a_a = pinocchio_peer.of_tips(model, peer, x, v[n], a[n])
        changes = pin.computeCentroidalDynamicsDerivatives(peer, data, x, v[n], a[n])
        theirs = [v_q, v_v, a_q, a_v, a_a, data.dhg.vector, *changes]
        mine = [x[n] for found in (velocities[:2], motions[:3], momenta[:5]) for x in found]
        worst = max(worst, *(error(*pair) for pair in zip(mine, theirs, strict=True)))
    assert worst < NEAR


@pytest.mark.parametrize("algorithm", ["rnea_derivatives", "aba_derivatives"])
@pytest.mark.parametrize("robot", besides([], ["four_bar", "six_bar"]))
def test_loops(robot, algorithm):
    """Against differences of the dense projected equations; where loops are almost singular these tell nothing."""
    model, worst, left = codegen.load(robot), 0.0, []
    states = drawn(model, LOOPED)
    found = evaluated(Task(model, algorithm), states)
    for n in range(LOOPED):
        try:
            expected = ORACLE[algorithm](model, *(x[n] for x in states))
        except RobotError:
            left.append(n)
            continue
        scale = max(np.abs(y).max() for y in expected)
        worst = max(worst, *(np.abs(x[n] - y).max() / scale for x, y in zip(found, expected, strict=False)))
    assert worst < LIMIT
    assert len(left) < LOOPED / 5, f"almost singular: {left}"


@pytest.mark.parametrize("robot", besides([], ["four_bar", "six_bar", "mini_cheetah"]))
def test_loops_against_the_projected_equations(robot):
    """Forward AD of the dense projection of the open tree's equations, whose recursions are others."""
    model = loaded(robot)
    states, n = drawn(model, STATES), model.nv
    found, J = evaluated(Task(model, "rnea_derivatives"), states), Task(model, "projected_rnea", form=Form("jvp"))
    along, worst = traced(J), np.zeros(STATES)
    scale = np.max([np.abs(x).max(axis=(1, 2)) for x in found[:3]], axis=0)
    for d in range(3 * n):
        k, column = divmod(d, n)
        directions = [np.zeros_like(states[1]) for _ in range(3)]
        directions[k][:, column] = 1.0
        theirs = interpret(along, *states, *directions)[0]
        worst = np.maximum(worst, np.abs(found[k][:, :, column] - theirs).max(axis=1) / scale)
    singular = np.flatnonzero(worst > NEAR)
    assert len(singular) < STATES / 100, f"almost singular: {singular}"
    assert np.median(worst) < 1e-12


class Held:
    """Constrained dynamics of Pinocchio's: points (classical accelerations) and frames (spatial ones)."""

    def __init__(self, model, texts):
        self.peer = pinocchio_peer.pinocchio_model(model)
        self.data = self.peer.createData()
        self.models, self.datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for name, rows in (text.split(":")[:2] for text in texts):
            frame = self.peer.frames[self.peer.getFrameId(name)]
            kind = pin.ContactType.CONTACT_6D if rows == "6" else pin.ContactType.CONTACT_3D
            place = (self.peer, frame.parentJoint, frame.placement, pin.ReferenceFrame.LOCAL)
            self.models.append(pin.RigidConstraintModel(kind, *place))
            self.datas.append(self.models[-1].createData())
        pin.initConstraintDynamics(self.peer, self.data, self.models, self.datas)

    def acceleration(self, q, v, tau):
        settings = pin.ProximalSettings(1e-14, 0.0, 1)
        return pin.constraintDynamics(self.peer, self.data, q, v, tau, self.models, self.datas, settings).copy()

    def derivatives(self, q, v, tau):
        self.acceleration(q, v, tau)
        pin.computeConstraintDynamicsDerivatives(self.peer, self.data, self.models, self.datas)
        return self.data.ddq_dq, self.data.ddq_dv, self.data.ddq_dtau

    def singular(self, algorithm):
        """Whether W is almost so; of proximal algorithms, too much so for the iteration to settle (mu = 1e5)."""
        name = "constraint_chol" if hasattr(self.data, "constraint_chol") else "contact_chol"
        sizes = np.linalg.eigvalsh(getattr(self.data, name).getInverseOperationalSpaceInertiaMatrix())
        return sizes[0] < (1e-3 if algorithm == "prox_pv" else sizes[-1] / SINGULAR)


HELD = [
    ("iiwa", ("lbr_iiwa_link_7:3",)),
    ("iiwa", ("lbr_iiwa_link_7:6:spatial",)),
    ("solo12", ("FL_FOOT:3", "FR_FOOT:3", "HL_FOOT:3", "HR_FOOT:3")),
    ("talos", ("left_sole_link:6:spatial", "right_sole_link:6:spatial")),
]


@pytest.mark.parametrize("algorithm", ["pv", "prox_pv"])
@pytest.mark.parametrize(("robot", "texts"), besides([], HELD[:3]))
def test_constrained_dynamics(robot, texts, algorithm):
    """Almost singular states apart, of which an arm held by six rows has some."""
    model = loaded(robot)
    held, (q, v, tau) = Held(model, texts), drawn(model, STATES)
    contacts = tuple(contact_of(model, text) for text in texts)
    found, worst, left = evaluated(Task(model, f"{algorithm}_derivatives", contacts=contacts), (q, v, tau)), 0.0, 0
    for n in range(STATES):
        expected = held.derivatives(pinocchio_peer.positions(model, q[n]), v[n], tau[n])
        if held.singular(algorithm):
            left += 1
            continue
        for mine, theirs in zip(found, expected, strict=False):
            worst = max(worst, error(mine[n], theirs))
    assert worst < (SETTLED if algorithm == "prox_pv" else NEAR)
    assert left < (STATES / 3 if algorithm == "prox_pv" else STATES / 20)


@pytest.mark.parametrize(("robot", "texts"), besides(HELD[1:2], HELD))
def test_frames_against_differences_of_pinocchio(robot, texts):
    """Derivatives with six rows a contact, which Pinocchio 3.0 had wrong (stack-of-tasks/pinocchio#2247)."""
    model = loaded(robot)
    held, (q, v, tau) = Held(model, texts), (x[0] for x in drawn(model, 1))
    contacts, x = tuple(contact_of(model, text) for text in texts), pinocchio_peer.positions(model, q)
    mine = interpret(trace(Task(model, "pv_derivatives", contacts=contacts)), q, v, tau)
    by_q = differences(lambda d: held.acceleration(pin.integrate(held.peer, x, d), v, tau), model.nv)
    by_v = differences(lambda d: held.acceleration(x, v + d, tau), model.nv)
    assert error(mine[0], by_q) < 1e-9
    assert error(mine[1], by_v) < 1e-9
