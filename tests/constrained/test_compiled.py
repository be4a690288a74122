"""Compiled algorithms with contacts, which remember no call; `auto`; and Pinocchio's proximal solver."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_peer import pinocchio_model, se3
from scenarios import PAPER, TOLERANCE, of, worst
from thorough import chosen

import codegen
from codegen.errors import RobotError
from codegen.oracle import ORACLE

SHORT = "chain:3,alternate"
FEET = ("left_sole_link:6", "right_sole_link:6")


@pytest.mark.parametrize(
    ("scenario", "algorithm"),
    chosen(
        lambda scenario, algorithm: (str(scenario), algorithm) == ("solo12 F3^2", "pv_early"),
        PAPER[2:4],
        ["pv", "pv_early", "constrained_aba", "prox_pv", "aba_prox_stiff", "pv_osimr", "caba_osim"],
    ),
    ids=str,
)
def test_a_call_depends_on_its_arguments_alone(scenario, algorithm):
    """Compiled code agrees with the oracle, and says the same again after other states, singular ones among them."""
    given = of(scenario)
    function = codegen.build(given.model, algorithm, contacts=given.contacts, iterations=5)
    states = (given.q, given.v, given.tau)[: len(function.inputs)]
    once = function(*states)
    singular = [np.zeros_like(x) for x in states]
    function(*singular)
    again = [function(*(x[n] for x in states)) for n in (3, 0, 3)]
    for out, *rest in zip(*(x if isinstance(x, tuple) else (x,) for x in (once, *again)), strict=True):
        assert np.array_equal(rest[0], rest[2])
        assert np.allclose(out[[3, 0]], rest[:2], rtol=1e-6)
    if algorithm in TOLERANCE:
        assert worst(once[0], given.expected()[0]) < 10 * TOLERANCE[algorithm]


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["pv", "constrained_aba"])
def test_talos_on_two_feet_against_pinocchio(algorithm):
    """Its constraint dynamics (initConstraintDynamics, constraintDynamics), contact frames at the soles."""
    given = of(PAPER[8])
    peer = pinocchio_model(given.model)
    contacts = pin.StdVec_RigidConstraintModel()
    for contact in given.contacts:
        joint, place = contact.frame.body + 1, se3(contact.frame.placement)
        contacts.append(
            pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, peer, joint, place, pin.ReferenceFrame.LOCAL)
        )
    data, contact_data = peer.createData(), pin.StdVec_RigidConstraintData()
    for contact in contacts:
        contact_data.append(contact.createData())
    pin.initConstraintDynamics(peer, data, contacts, contact_data)
    settings = pin.ProximalSettings(1e-14, 1e-12, 50)
    theirs = np.array(
        [
            pin.constraintDynamics(peer, data, q, v, tau, contacts, contact_data, settings).copy()
            for q, v, tau in zip(given.q, given.v, given.tau, strict=True)
        ]
    )
    spatial = spatially_held(given)
    ours, _ = given.solved(algorithm, spatial, parameters=("k",))
    assert worst(ours, theirs) < 1e-8


def spatially_held(given):
    """k of feet whose spatial acceleration is held at zero, as Pinocchio does it: classical = spatial + w x v."""
    wanted = []
    for q, v in zip(given.q, given.v, strict=True):
        names = [contact.frame.name for contact in given.contacts]
        _, rotations, velocities = ORACLE["fk"](given.model, q, v, frames=names)
        parts = [np.cross(R.T @ V[3:], R.T @ V[:3]) for R, V in zip(rotations, velocities, strict=True)]
        wanted.append(np.concatenate([np.append(np.zeros(3), part) for part in parts]))
    return np.array(wanted)


@pytest.mark.thorough
def test_auto_takes_the_cheapest():
    robot = codegen.load("iiwa")
    choice = codegen.auto(robot, contacts=["lbr_iiwa_link_7:3"])
    counts = {c.algorithm: c.emitted for c in choice.candidates if c.emitted is not None}
    assert choice.algorithm == min(counts, key=counts.get)
    function = codegen.build(robot, "auto", contacts=["lbr_iiwa_link_7:3"])
    state = robot.random(0)
    held = (robot.contact("lbr_iiwa_link_7", 3),)
    assert worst(function(*state)[0][None], ORACLE["pv"](robot, *state, contacts=held)[0][None]) < 1e-8
    assert function.count.total == counts[choice.algorithm]


def test_auto_with_iterations_left_to_the_caller():
    robot = codegen.load(SHORT)
    choice = codegen.auto(robot, contacts=["link2:3"], iterations=None)
    assert not {"pv", "pv_early"} & {candidate.algorithm for candidate in choice.candidates}


@pytest.mark.parametrize("contacts", [None, [], ()])
def test_auto_without_contacts_is_forward_dynamics(contacts):
    assert codegen.auto(codegen.load("iiwa"), contacts=contacts).algorithm == "aba"


def test_auto_keeps_direct_algorithms_from_redundant_contacts():
    robot = codegen.load(SHORT)
    choice = codegen.auto(robot, contacts=["link2:6", "link2:3"])
    assert not {"pv", "pv_early"} & {candidate.algorithm for candidate in choice.candidates}


def test_auto_offers_what_has_the_inputs_asked_for():
    robot = codegen.load(SHORT)
    choice = codegen.auto(robot, contacts=["link2:3"], parameters=("mu", "lam0"))
    assert "pv" not in str(choice).split(", ")
    with pytest.raises(RobotError, match="delassus algorithm has the inputs mu"):
        codegen.auto(robot, "delassus", contacts=["link2:3"], parameters=("mu",))
    with pytest.raises(RobotError, match="choose one of constrained, delassus"):
        codegen.auto(robot, "soft")


def test_a_frame_more():
    robot = codegen.load("iiwa")
    longer = robot.with_frame("tip", "lbr_iiwa_link_7", (0.0, 0.0, 0.2), (np.pi / 2, 0.0, 0.0))
    q, v, _ = robot.random(0)
    (p, R, _), (p7, R7, _) = (ORACLE["fk"](longer, q, v, frames=[name]) for name in ("tip", "lbr_iiwa_link_7"))
    assert np.allclose(p[0], p7[0] + 0.2 * R7[0][:, 2], atol=1e-14)
    assert np.allclose(R[0] @ [0.0, 1.0, 0.0], R7[0] @ [0.0, 0.0, 1.0], atol=1e-14)
    for name, xyz in (("tip", (0, 0, np.nan)), ("lbr_iiwa_link_7", (0, 0, 0)), ("", (0, 0, 0)), ("x", (0, 0))):
        with pytest.raises(RobotError):
            robot.with_frame(name, "lbr_iiwa_link_7", xyz)
