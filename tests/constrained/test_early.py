"""PV-early where single joints yield next to nothing: exact as long as W is regular."""

from __future__ import annotations

from dataclasses import replace

import interpreted
import numpy as np
import pytest
from scenarios import worst
from thorough import besides

import codegen
from codegen.geometry import Inertia, Pose
from codegen.ir.interpreter import interpret
from codegen.model import Body, Frame, Joint, Node
from codegen.model.contacts import contact_of
from codegen.oracle import ORACLE, constrained
from codegen.tracing.task import Task
from codegen.tracing.trace import trace

FEET = ("left_sole_link", "right_sole_link")
SOLID = Inertia(2.0, (0.1, 0.05, 0.02), ((0.05, 0.0, 0.0), (0.0, 0.06, 0.0), (0.0, 0.0, 0.07)))


def solved(model, contacts, q, v, tau):
    """Accelerations and multipliers, and those of the oracle."""
    found = interpret(interpreted.graph(model, "pv_early", contacts=contacts), q, v, tau)
    expected = [ORACLE["pv_early"](model, *state, contacts=contacts) for state in zip(q, v, tau, strict=True)]
    return found, tuple(np.stack(column) for column in zip(*expected, strict=True))


def smallest(model, contacts, q):
    at = constrained.equations(model, q, np.zeros(model.nv), contacts=contacts)
    return np.linalg.eigvalsh(constrained.delassus(at))[0]


BENT = [(), ("leg_right_6_joint",), ("leg_left_4_joint", "leg_left_2_joint")]


@pytest.mark.parametrize(
    "bent", [pytest.param(bent, marks=pytest.mark.thorough if bent in BENT[1:] else ()) for bent in BENT]
)
def test_a_humanoid_on_straight_legs(build, bent):
    """The hip yields nothing new at a straight knee: another row waits there than elsewhere."""
    model = codegen.load("talos")
    contacts = tuple(model.contact(foot) for foot in FEET)
    q = np.stack([model.neutral()] * 4)
    for joint in bent:
        q[:, model.q_slices[model.joint_names.index(joint)]] = 0.2
    q[1, 7:] += 1e-4
    q[2, 7:] += 1e-7
    rng = np.random.default_rng(2)
    v, tau = rng.standard_normal((2, 4, model.nv))
    v[3] = tau[3] = 0.0
    assert min(smallest(model, contacts, state) for state in q) > 1e-3
    found, expected = solved(model, contacts, q, v, tau)
    compiled = build(model, "pv_early", contacts=contacts)(q, v, tau)
    for results in (found, compiled):
        assert worst(results[0], expected[0]) < 1e-9
        assert worst(results[1], expected[1]) < 1e-9


def test_a_joint_of_three_freedoms_of_which_two_yield():
    """At an upright base the two freedoms that yield elsewhere do not, but the third one does."""
    kinds = (("base", -1, Joint("free", "floating")), ("table", 0, Joint("plane", "planar")))
    bodies = tuple(Body(name, parent, joint, Pose(), SOLID) for name, parent, joint in kinds)
    hinge = Joint("hinge", "revolute", (-1.0, 0.0, 0.0), lower=-2.5, upper=2.5)
    arm = Body("arm", 1, hinge, Pose(translation=(-0.3, 0.0, 0.0)), SOLID)
    frames = tuple(Frame(name, n) for n, name in enumerate(("base", "table", "arm")))
    model = replace(
        codegen.load("solo12", convention="mujoco"),
        name="three",
        bodies=(*bodies, arm),
        nodes=tuple(Node((n,), n - 1) for n in range(3)),
        frames=frames,
    )
    contacts = tuple(model.contact(name, "rx,y", axes="world") for name in ("table", "arm"))
    rng = np.random.default_rng(1)
    states = [model.random(rng) for _ in range(60)]
    for q, *_ in states:
        q[:7] = model.neutral()[:7]
    kept = [state for state in states if smallest(model, contacts, state[0]) > 1e-2]
    assert len(kept) > 30
    found, expected = solved(model, contacts, *map(np.stack, zip(*kept, strict=True)))
    assert worst(found[0], expected[0]) < 1e-9


@pytest.mark.parametrize("size", besides([], [1e-2, 1e-5, 1e-8]))
def test_rows_may_be_stated_in_other_units(size):
    """Rows of any length are held alike, and stiffened alike where mu is stated in their units."""
    model = codegen.load("talos")
    contacts = tuple(model.contact(foot, size * np.eye(6)) for foot in FEET)
    q, v, tau = (state[None] for state in model.random(1))
    found, expected = solved(model, contacts, q, v, tau)
    assert worst(found[1], expected[1]) < 1e-9
    for algorithm in ("constrained_aba", "aba_prox_stiff"):
        graph = trace(Task(model, algorithm, contacts=contacts, parameters=("mu",), iterations=8))
        assert worst(interpret(graph, q, v, tau, 1e5 / size**2)[0], expected[0]) < 1e-7


def test_single_precision_where_a_joint_yields_nothing():
    model = codegen.load("iiwa")
    early = codegen.build(model, "pv_early", contacts=["lbr_iiwa_link_7:6"], dtype="float32").with_status()
    assert all(np.isfinite(result).all() for result in early(*np.zeros((3, 7))))
    held = model.contact("lbr_iiwa_link_7", 6, kp=10.0)
    pulled = codegen.build(model, "constrained_aba", contacts=[held], dtype="float32")
    q, v, tau = model.random(0)
    position, rotation, _ = ORACLE["fk"](model, q, v, frames=["lbr_iiwa_link_7"])
    turned = rotation @ np.diag([1.0, -1.0, -1.0])  # half a turn away
    assert all(np.isfinite(result).all() for result in pulled(q, v, tau, position, turned))


@pytest.mark.parametrize(
    ("robot", "base", "contacts", "left_out"),
    [
        ("iiwa", "fixed", ("lbr_iiwa_link_7:6",), True),
        pytest.param(
            "go1", "floating", ("FL_foot:6", "FR_foot:6", "RL_foot:6", "RR_foot:6"), True, marks=pytest.mark.thorough
        ),
        ("go1", "floating", ("FL_foot:3", "FR_foot:3", "RL_foot:3", "RR_foot:3"), False),
        pytest.param("talos", "fixed", ("left_sole_link:6", "right_sole_link:6"), True, marks=pytest.mark.thorough),
        pytest.param("talos", "floating", ("left_sole_link:6", "right_sole_link:6"), False, marks=pytest.mark.thorough),
        ("chain:4", "fixed", ("link3:x,y",), True),
    ],
)
def test_stretched_limbs_fail_where_nothing_follows(robot, base, contacts, left_out):
    """All joints at zero: a base that floats follows what limbs cannot, a fixed one leaves the robot singular."""
    model = codegen.load(robot, base=base)
    held = tuple(contact_of(model, text) for text in contacts)
    _, v, tau = model.random(0)
    *found, status = interpret(trace(Task(model, "pv_early", contacts=held)), model.neutral(), v, tau)
    assert bool(status) == left_out
    assert all(np.isfinite(result).all() for result in found)


def test_rows_beyond_all_freedoms_are_told(build):
    """Twelve rows on an arm of seven joints contradict one another at every state."""
    early = build(codegen.load("iiwa"), "pv_early", contacts=["lbr_iiwa_link_7:6", "lbr_iiwa_link_6:6"])
    with pytest.raises(codegen.SingularError):
        early(*codegen.load("iiwa").random(0))
