"""The compiled C against MuJoCo under its own convention, and MJCF against URDF of the same robot."""

from __future__ import annotations

import mujoco
import mujoco_peer
import numpy as np
import pytest
import robot_texts
from compiled_cases import TOLERANCE, Mechanism, Robot, model_of
from mechanisms_cases import ALL_TYPES, aligned, error, state
from thorough import besides

import codegen

TYPES = tuple(kind for kind in ALL_TYPES if kind != "floating")  # MuJoCo's bodies float in the world only
CASES = [
    *(Mechanism(base, "mujoco", types=(*TYPES, "revolute"), seed=80) for base in ("fixed", "floating")),
    Robot("panda", "fixed", "mujoco"),
    Robot("solo12", "floating", "mujoco"),
]
QUICK = besides(["random-fixed-mujoco", "random-floating-mujoco", "solo12-floating-mujoco"], CASES)


@pytest.mark.parametrize("case", QUICK, ids=str)
def test_dynamics(built, case):
    model = model_of(case)
    peer = mujoco_peer.mujoco_model(model)
    states = [state(model, 300 + seed) for seed in range(5)]
    q, v, a, tau = map(np.stack, zip(*states, strict=True))
    given = {"crba": (q,), "minverse": (q,), "rnea": (q, v, a), "aba": (q, v, tau), "ltl": (q, v, tau)}
    found = {algorithm: built(case, algorithm)(*inputs) for algorithm, inputs in given.items()}
    bias = built(case, "rnea")(q, v, np.zeros_like(v))
    for n, (q, v, a, tau) in enumerate(states):
        data = mujoco_peer.at(peer, q, v)
        M = mujoco_peer.inertia_matrix(peer, data)
        assert error(found["crba"][n], M) < TOLERANCE
        assert error(found["minverse"][n] @ M, np.eye(model.nv)) < TOLERANCE
        assert error(bias[n], data.qfrc_bias) < TOLERANCE
        assert error(found["rnea"][n], M @ a + data.qfrc_bias) < TOLERANCE
        data.qfrc_applied[:] = tau
        mujoco.mj_forward(peer, data)
        assert error(found["aba"][n], data.qacc) < TOLERANCE
        assert error(found["ltl"][n], data.qacc) < TOLERANCE


@pytest.mark.parametrize("case", QUICK, ids=str)
def test_kinematics(built, case):
    model = model_of(case)
    peer = mujoco_peer.mujoco_model(model)
    q, v, _, _ = state(model, 310)
    fk, J = mujoco_peer.frame_outputs(peer, mujoco_peer.at(peer, q, v), model.tips)
    assert error(built(case, "fk")(q, v), fk) < TOLERANCE
    assert error(built(case, "jacobian")(q), J) < TOLERANCE


@pytest.mark.parametrize("case", QUICK, ids=str)
def test_configurations(built, case):
    model = model_of(case)
    peer = mujoco_peer.mujoco_model(model)
    q, v, _, _ = state(model, 320)
    end, short, other = q.copy(), np.zeros(model.nv), state(model, 321)[0]
    mujoco.mj_integratePos(peer, end, v, 1.0)
    assert error(aligned(model, built(case, "integrate")(q, v), end), end) < TOLERANCE
    mujoco.mj_differentiatePos(peer, short, 1.0, q, other)
    assert error(built(case, "difference")(q, other), short) < TOLERANCE


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_external_wrenches(built, case):
    model = model_of(case)
    peer = mujoco_peer.mujoco_model(model)
    q, v, _, tau = state(model, 330)
    data = mujoco_peer.at(peer, q, v)
    external = ("tool2", "body4")
    f_ext = np.random.default_rng(331).standard_normal((2, 6))
    data.qfrc_applied[:] = tau + mujoco_peer.applied(peer, data, external, f_ext)
    mujoco.mj_forward(peer, data)
    assert error(built(case, "aba", external=external)(q, v, tau, f_ext), data.qacc) < TOLERANCE


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_mjcf_read_by_both(build, case, tmp_path):
    """Our reader of MJCF against MuJoCo: every joint type, off-axis, with armature."""
    text = mujoco_peer.mjcf(model_of(case))
    path = tmp_path / "robot.xml"
    path.write_text(text)
    model = codegen.load(path, convention="mujoco")
    peer = mujoco.MjModel.from_xml_string(text)
    assert (model.nq, model.nv) == (peer.nq, peer.nv)
    q, v, a, tau = state(model_of(case), 340)
    data = mujoco_peer.at(peer, q, v)
    expected = mujoco_peer.inertia_matrix(peer, data) @ a + data.qfrc_bias
    assert error(build(model, "rnea")(q, v, a), expected) < TOLERANCE
    data.qfrc_applied[:] = tau
    mujoco.mj_forward(peer, data)
    assert error(build(model, "aba")(q, v, tau), data.qacc) < TOLERANCE
    fk, J = mujoco_peer.frame_outputs(peer, data, ("tool1", "tool3"))
    assert error(build(model, "fk", frames=("tool1", "tool3"))(q, v), fk) < TOLERANCE
    assert error(build(model, "jacobian", frames=("tool1", "tool3"))(q), J) < TOLERANCE


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_mjcf_and_urdf_describe_the_same_robot(build, base, tmp_path):
    urdf, xml = tmp_path / "robot.urdf", tmp_path / "robot.xml"
    urdf.write_text(robot_texts.urdf())
    xml.write_text(robot_texts.mjcf(base == "floating"))
    one = codegen.load(urdf, base=base, convention="mujoco")
    other = codegen.load(xml, base=base, convention="mujoco")
    peer = mujoco.MjModel.from_xml_path(str(xml))
    assert one.joint_names[-4:] == other.joint_names[-4:]
    q, v, a, _ = state(one, 350)
    data = mujoco_peer.at(peer, q, v)
    tau = mujoco_peer.inertia_matrix(peer, data) @ a + data.qfrc_bias
    assert error(build(one, "rnea")(q, v, a), tau) < TOLERANCE
    assert error(build(other, "rnea")(q, v, a), tau) < TOLERANCE
    expected, _ = mujoco_peer.frame_outputs(peer, data, ("tip",))
    assert error(build(one, "fk", frames=("tip",))(q, v), expected) < TOLERANCE
    assert error(build(other, "fk", frames=("tip",))(q, v), expected) < TOLERANCE
