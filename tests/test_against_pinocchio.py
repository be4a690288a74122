"""The compiled C against Pinocchio: models built body by body, and URDF read by both."""

from __future__ import annotations

import mpmath
import numpy as np
import pinocchio as pin
import pinocchio_peer
import pytest
import robot_texts
from compiled_cases import BUNDLED, MECHANISMS, TOLERANCE, model_of
from mechanisms_cases import aligned, error, state
from thorough import besides

import codegen

PEERS = besides(
    ("iiwa-fixed-pinocchio", "solo12-floating-pinocchio", *(str(x) for x in MECHANISMS if x.convention == "pinocchio")),
    [case for case in (*BUNDLED, *MECHANISMS) if case.convention == "pinocchio"],
)


def full(M):
    """Pinocchio fills the upper triangle only."""
    return np.triu(M) + np.triu(M, 1).T


def inverted(peer, data, x):
    """Pinocchio's inverse of M; where M has a bad condition, as iCub's, it keeps few digits, and its M is inverted."""
    M = full(pin.crba(peer, data, x))
    if np.linalg.cond(M) < 1e6:
        return full(pin.computeMinverse(peer, data, x))
    with mpmath.workdps(40):
        return np.array((mpmath.matrix(M.tolist()) ** -1).tolist(), float)


@pytest.mark.parametrize("case", PEERS, ids=str)
def test_dynamics(built, case):
    model = model_of(case)
    peer = pinocchio_peer.pinocchio_model(model)
    data = peer.createData()
    states = [state(model, 200 + seed) for seed in range(5)]
    q, v, a, tau = map(np.stack, zip(*states, strict=True))
    given = {"rnea": (q, v, a), "crba": (q,), "aba": (q, v, tau), "ltl": (q, v, tau), "minverse": (q,)}
    found = {algorithm: built(case, algorithm)(*inputs) for algorithm, inputs in given.items()}
    for n, (q, v, a, tau) in enumerate(states):
        x = pinocchio_peer.positions(model, q)
        assert error(found["rnea"][n], pin.rnea(peer, data, x, v, a)) < TOLERANCE
        assert error(found["crba"][n], full(pin.crba(peer, data, x))) < TOLERANCE
        expected = pin.aba(peer, data, x, v, tau)
        assert error(found["aba"][n], expected) < TOLERANCE
        assert error(found["ltl"][n], expected) < TOLERANCE
        assert error(found["minverse"][n], inverted(peer, data, x)) < TOLERANCE


@pytest.mark.parametrize("case", PEERS, ids=str)
def test_kinematics(built, case):
    model = model_of(case)
    peer = pinocchio_peer.pinocchio_model(model)
    q, v, _, _ = state(model, 210)
    fk, J = pinocchio_peer.frame_outputs(peer, model.tips, pinocchio_peer.positions(model, q), v)
    assert error(built(case, "fk")(q, v), fk) < TOLERANCE
    assert error(built(case, "jacobian")(q), J) < TOLERANCE


@pytest.mark.parametrize("case", PEERS, ids=str)
def test_configurations(built, case):
    model = model_of(case)
    peer = pinocchio_peer.pinocchio_model(model)
    q, v, _, _ = state(model, 220)
    other = state(model, 221)[0]
    for body, i in zip(model.bodies, model.q_slices, strict=True):
        if body.joint.type == "planar":  # Pinocchio knows the angle up to a turn, and takes the shorter way
            other[i.stop - 1] = q[i.stop - 1] + 0.9
    x, y = (pinocchio_peer.positions(model, at) for at in (q, other))
    moved = built(case, "integrate")(q, v)
    expected = pinocchio_peer.own_positions(model, pin.integrate(peer, x, v), near=moved)
    assert error(aligned(model, moved, expected), expected) < TOLERANCE
    assert error(built(case, "difference")(q, other), pin.difference(peer, x, y)) < TOLERANCE


@pytest.mark.parametrize("case", [case for case in MECHANISMS if case.convention == "pinocchio"], ids=str)
def test_external_wrenches(built, case):
    model = model_of(case)
    peer = pinocchio_peer.pinocchio_model(model)
    q, v, a, tau = state(model, 230)
    x = pinocchio_peer.positions(model, q)
    external = ("tool2", "body5")
    f_ext = np.random.default_rng(231).standard_normal((2, 6))
    forces = pinocchio_peer.joint_wrenches(model, external, f_ext)
    expected = pin.rnea(peer, peer.createData(), x, v, a, forces)
    assert error(built(case, "rnea", external=external)(q, v, a, f_ext), expected) < TOLERANCE
    expected = pin.aba(peer, peer.createData(), x, v, tau, forces)
    assert error(built(case, "aba", external=external)(q, v, tau, f_ext), expected) < TOLERANCE


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("text", [robot_texts.urdf(), robot_texts.rare_urdf()], ids=["two_limbs", "rare"])
def test_urdf_read_by_both(build, text, base, tmp_path):
    """Two readers, two orders of the joints, two sets of merged links: one robot."""
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    model = codegen.load(path, base=base)
    peer = pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if base == "floating" else pin.buildModelFromXML(text)
    q, v, a, tau = state(model, 240)
    x, columns = permuted(model, peer, q)
    y, b, f = (np.zeros(peer.nv) for _ in range(3))
    y[columns], b[columns], f[columns] = v, a, tau
    data = peer.createData()
    assert error(build(model, "rnea")(q, v, a), pin.rnea(peer, data, x, y, b)[columns]) < TOLERANCE
    M = full(pin.crba(peer, data, x))[np.ix_(columns, columns)]
    assert error(build(model, "crba")(q), M) < TOLERANCE
    assert error(build(model, "aba")(q, v, tau), pin.aba(peer, data, x, y, f)[columns]) < TOLERANCE
    frames = ("tip", "gripper", "fore", "wing") if "two_limbs" in text else ("hand", "upper", "hub", "fore")
    fk, J = pinocchio_peer.frame_outputs(peer, frames, x, y)
    assert error(build(model, "fk", frames=frames)(q, v), fk) < TOLERANCE
    assert error(build(model, "jacobian", frames=frames)(q), J[:, :, columns]) < TOLERANCE


def permuted(model, peer, q):
    """q in Pinocchio's order and shape, and where our velocities stand in Pinocchio's (nv)."""
    x, columns = pin.neutral(peer), []
    for body, i, j in zip(model.bodies, model.q_slices, model.v_slices, strict=True):
        floating = body.joint.type == "floating" and body.parent < 0
        joint = peer.joints[1 if floating else peer.getJointId(body.joint.name)]
        own = q[i]
        if joint.nq == 2:
            own = np.array([np.cos(own[0]), np.sin(own[0])])
        elif body.joint.type == "planar":
            own = np.append(own[:2], [np.cos(own[2]), np.sin(own[2])])
        x[joint.idx_q : joint.idx_q + joint.nq] = own
        columns += range(joint.idx_v, joint.idx_v + j.stop - j.start)
    return x, columns
