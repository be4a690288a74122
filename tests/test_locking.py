"""Locked joints of trees, and parts of robots: against dense equations of the whole robot and Pinocchio's reduction."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import interpreted
import numpy as np
import pinocchio as pin
import pytest
from mechanisms_cases import ALL_TYPES, error, mechanism, state
from pinocchio_peer import pinocchio_model, positions, se3

import codegen
from codegen.description import json_format, write_json
from codegen.description.describing import described
from codegen.errors import RobotError
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE
from codegen.robot import Robot, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Convention, Model

CASES = [
    (seed, base, convention)
    for seed in (0, 1)
    for base in ("fixed", "floating")
    for convention in ("pinocchio", "mujoco")
]


def locked_half(seed: int, base: str, convention: Convention) -> tuple[Model, Model, NDArray[np.float64]]:
    """A random tree of all joint types, half of its joints locked at a random q, and that q."""
    whole = mechanism(ALL_TYPES * 2, seed, base=base, convention=convention, armature=True)
    whole = replace(whole, gravity=(1.0, 2.0, -9.0))
    rng, (q, *_) = np.random.default_rng(seed), state(whole, seed)
    locked = [name for name in whole.joint_names if rng.random() < 0.5]
    at = {name: q[i] for name, i in zip(whole.joint_names, whole.q_slices, strict=True)}
    return whole, whole.lock({name: at[name] for name in locked}), q


def columns(whole: Model, left: Model, slices: str) -> NDArray[np.intp]:
    """Where the coordinates that are left stand among those of the whole robot."""
    places = dict(zip(whole.joint_names, getattr(whole, slices), strict=True))
    return np.concatenate([np.arange(100)[places[name]] for name in left.joint_names])


@pytest.mark.parametrize(("seed", "base", "convention"), CASES)
def test_what_is_left_moves_as_in_the_whole_robot_at_rest_elsewhere(
    seed: int, base: str, convention: Convention
) -> None:
    whole, left, q = locked_half(seed, base, convention)
    own, free = columns(whole, left, "q_slices"), columns(whole, left, "v_slices")
    names = tuple(frame.name for frame in whole.frames)
    external = tuple(name for name in names if name.startswith("tool"))
    rng = np.random.default_rng(seed)
    x, v, a = left.random(rng)
    f = rng.standard_normal((len(external), 6))
    q, full_v, full_a = q.copy(), np.zeros(whole.nv), np.zeros(whole.nv)
    q[own], full_v[free], full_a[free] = x, v, a
    assert tuple(frame.name for frame in left.frames) == names
    M = ORACLE["crba"](whole, q)[np.ix_(free, free)]
    tau = ORACLE["rnea"](whole, q, full_v, full_a, f, external=external)[free]
    assert error(ORACLE["crba"](left, x), M) < 1e-12
    assert error(ORACLE["rnea"](left, x, v, a, f, external=external), tau) < 1e-12
    assert error(ORACLE["fk"](left, x, v, frames=names), ORACLE["fk"](whole, q, full_v, frames=names)) < 1e-12
    J = ORACLE["jacobian"](whole, q, frames=names)[..., free]
    assert error(ORACLE["jacobian"](left, x, frames=names), J) < 1e-12
    if (seed, base, convention) == (0, "floating", "mujoco"):
        graph = interpreted.graph(left, "aba", external=external)
        assert error(interpret(graph, x, v, tau, f)[0], a) < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_pinocchio_reduces_a_robot_to_the_same(seed: int) -> None:
    whole, left, q = locked_half(seed, ("fixed", "floating")[seed % 2], "pinocchio")
    peer = framed(whole)
    gone = [peer.getJointId(name) for name in whole.joint_names if name not in left.joint_names]
    reduced, ours = pin.buildReducedModel(peer, gone, positions(whole, q)), framed(left)
    assert list(reduced.names) == list(ours.names)
    np.testing.assert_array_equal(reduced.armature, ours.armature)
    for i in range(1, ours.njoints):
        np.testing.assert_allclose(reduced.inertias[i].matrix(), ours.inertias[i].matrix(), atol=1e-12)
        assert reduced.jointPlacements[i].isApprox(ours.jointPlacements[i], 1e-12)
    for name in (frame.name for frame in whole.frames):
        one, other = (model.frames[model.getFrameId(name)] for model in (reduced, ours))
        assert one.parentJoint == other.parentJoint
        np.testing.assert_allclose(one.placement.homogeneous, other.placement.homogeneous, atol=1e-12)


def framed(model: Model) -> pin.Model:
    """The peer with a frame for every joint, from which its reduction finds out where frames belong."""
    peer = pinocchio_model(replace(model, frames=()))
    for i in range(1, peer.njoints):
        peer.addJointFrame(i, -1)
    for frame in model.frames:
        on = peer.getFrameId(peer.names[frame.body + 1]) if frame.body >= 0 else 0
        kind = pin.FrameType.OP_FRAME
        peer.addFrame(pin.Frame(frame.name, frame.body + 1, on, se3(frame.placement), kind))
    return peer


def test_talos_without_its_grippers() -> None:
    """2 driven gripper joints and 12 that follow them in the source: 36 of 50 degrees of freedom are left."""
    talos = load("talos")
    grippers = [name for name in talos.joint_names if name.startswith("gripper")]
    left = talos.lock(dict.fromkeys(grippers, 0.0))
    assert (len(grippers), left.nv, left.nq) == (14, 36, 37)
    assert left == talos.lock(grippers) == talos.lock(grippers, talos.neutral())
    assert left == talos.lock_all_but(*left.joint_names)
    assert left.notes[-1].startswith("Locked joints: 'gripper_left_joint' at 0; ")
    held = left.contact("gripper_left_fingertip_1_link", 6)
    assert left.bodies[held.frame.body].name == "arm_left_7_link"
    untouched = {body.name: body for body in left.bodies if not body.name.startswith("arm_")}
    for body in talos.bodies:
        if body.name in untouched:
            assert (body.inertia, body.placement) == (untouched[body.name].inertia, untouched[body.name].placement)


def test_contacts_on_locked_links_hold_what_carries_them() -> None:
    whole = load("chain:4,alternate")
    left = whole.lock({"link3_joint": 0.4})
    contact, same = left.contact("tip", 3), whole.contact("tip", 3)
    assert left.bodies[contact.frame.body].name == "link2"
    q, v, tau = left.random(0)
    W = ORACLE["pv_osim"](left, q, contacts=[contact])
    q_whole = [*q, 0.4]
    J = ORACLE["jacobian"](whole, q_whole, frames=("tip",))[0, :3, :3]
    R = ORACLE["fk"](whole, q_whole, np.zeros(4), frames=("tip",))[1][0]
    M = ORACLE["crba"](whole, q_whole)[:3, :3]
    np.testing.assert_allclose(W, R.T @ J @ np.linalg.solve(M, J.T) @ R, rtol=1e-10)
    assert same.frame.body == 3
    graph = codegen.graphs(left, "pv", contacts=[contact])[1]
    assert codegen.graphs(left, "pv", contacts=[same])[1] == graph == codegen.graphs(left, "pv", contacts=["tip:3"])[1]
    expected = ORACLE["pv"](left, q, v, tau, contacts=[contact])
    assert error(tuple(interpret(graph, q, v, tau)[:2]), expected) < 1e-8


def hand(*loops: dict[str, object]) -> Model:
    """Three hinges in a row, a, b and c, and these loops."""
    links = [{"name": name, "mass": 1.0, "inertia": [1, 0, 0, 1, 0, 1]} for name in ("base", "a", "b", "c")]
    pairs = (("base", "a"), ("a", "b"), ("b", "c"))
    joints = [{"name": c, "type": "revolute", "parent": p, "child": c, "axis": [0, 1, 0]} for p, c in pairs]
    named = [{"name": f"loop{n}", **loop} for n, loop in enumerate(loops)]
    data = {"format": "rigidc-robot-1", "name": "hand", "links": links, "joints": joints, "loops": named}
    return Robot.assembled(json_format.read(json.dumps(data), Path("hand.json")))


def test_followers_take_their_leader_along() -> None:
    follows = {"kind": "linear", "independent": ["a"], "dependent": ["b"], "matrix": [[-2.0]], "offset": [0.1]}
    robot = hand(follows)
    by_leader, by_follower = robot.lock({"a": 0.3}), robot.lock({"b": -0.5})
    assert by_leader.joint_names == by_follower.joint_names == ("c",)
    np.testing.assert_allclose(by_leader.bodies[0].placement.R, by_follower.bodies[0].placement.R, atol=1e-15)
    assert robot.lock({"a": 0.3, "b": None}).bodies == by_leader.bodies
    with pytest.raises(
        RobotError, match=r"loop 'loop0' does not hold where 'b', 'a' stand still \(it is off by 0.5\); let"
    ):
        robot.lock({"a": 0.3, "b": 0.0})


STILL: dict[str, dict[str, object]] = {
    "formula": {"kind": "expression", "variables": {}, "explicit": {"b": "0.1 + 0.2"}},
    "no factor": {"kind": "linear", "independent": ["a"], "dependent": ["b"], "matrix": [[0.0]], "offset": [0.3]},
    "no leaders": {"kind": "linear", "independent": [], "dependent": ["b"], "matrix": [[]], "offset": [0.3]},
}


@pytest.mark.parametrize("case", STILL)
def test_constants_in_json_lock_their_joint(case: str) -> None:
    still, expected = hand(STILL[case]), hand().lock({"b": 0.3})
    assert (still.joint_names, still.loops) == (("a", "c"), ())
    assert "Joints that a loop holds still are fixed: 'b'." in still.notes
    np.testing.assert_allclose(still.bodies[1].placement.R, expected.bodies[1].placement.R, atol=1e-15)
    with pytest.raises(
        RobotError, match=r"hand.json: .*loop.*('loop0', 'loop1' contradict one another|'loop1' does not hold)"
    ):
        hand(STILL[case], {**STILL["no leaders"], "offset": [0.5]})
    for far, where in (
        ({**STILL["no leaders"], "offset": [1e300]}, "loop 'loop0': the number 1e+300 is not finite or"),
        ({**STILL["formula"], "explicit": {"b": "1e200*1e100"}}, "a loop puts joint 'b' at 1e+300,"),
    ):
        with pytest.raises(RobotError, match=re.escape(f"hand.json: {where} beyond 1e+12; correct it")):
            hand(far)


def test_positions_take_as_many_numbers_as_the_joint_has() -> None:
    robot = mechanism(("revolute", "planar", "spherical", "floating"), 3)
    at = {"joint0": [0.1], "joint1": [0.1, 0.2, 0.3], "joint2": [0, 0, 0, 2.0], "joint3": [1, 2, 3, 0, 0, 0, 1]}
    for name, q in at.items():
        assert robot.lock({name: q}).joint_names == tuple(other for other in at if other != name)
        with pytest.raises(RobotError, match=rf"{name}' is \w+: it takes {len(q)} number.*, not {len(q) + 1}"):
            robot.lock({name: [*q, 1.0]})
        for bad in ([float("nan")] * len(q), [float("inf")] * len(q), "much"):
            with pytest.raises(RobotError, match=f"'{name}'.*give (finite )?numbers"):
                robot.lock({name: bad})  # type: ignore[dict-item]
    assert robot.lock({"joint2": None}).frames == robot.lock({"joint2": at["joint2"]}).frames
    assert robot.lock({}) is robot.lock([]) is robot
    with pytest.raises(RobotError, match="quaternion of length zero"):
        robot.lock({"joint2": [0, 0, 0, 0]})
    with pytest.raises(RobotError, match="there is no moving joint 'joint9'; did you mean 'joint"):
        robot.lock(["joint9"])
    with pytest.raises(RobotError, match=r"write \['joint0'\]"):
        robot.lock("joint0")
    with pytest.raises(RobotError, match=r"q must have 15 numbers, not shape \(3,\)"):
        robot.lock(["joint0"], [0.0, 1.0, 2.0])


def test_positions_beyond_the_limits_are_taken() -> None:
    robot = load("iiwa")
    assert robot.lock({robot.joint_names[0]: 4.0}).nv == 6


def test_an_arm_alone() -> None:
    """A joint and what hangs on it; the same through the link, whose other children are locked."""
    talos = load("talos")
    arm = talos.subtree("arm_left_1_joint")
    joints = [name for name in talos.joint_names if "left" in name and not name.startswith("leg")]
    assert arm.joint_names == tuple(joints)
    other = talos.subtree("torso_2_link").lock_all_but(*joints)
    assert [body.inertia for body in arm.bodies] == [body.inertia for body in other.bodies]
    assert arm.bodies[1:] == other.bodies[1:]
    torso = talos.frame("torso_2_link")
    np.testing.assert_allclose(
        (torso.placement.inverse() @ talos.bodies[5].placement).p, other.bodies[0].placement.p, atol=1e-15
    )
    with pytest.raises(RobotError, match="is a joint; name a moving link for a floating base"):
        talos.subtree("arm_left_1_joint", "floating")
    with pytest.raises(RobotError, match="there is no frame or joint 'arm'"):
        talos.subtree("arm")
    with pytest.raises(RobotError, match="use 'fixed' or 'floating'"):
        talos.subtree("base_link", "free")  # type: ignore[arg-type]


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_subtree_moves_as_part_of_the_whole(base: str) -> None:
    """On a body that rests, or (floating) where that body is moved: its forces are those inside the whole robot."""
    whole = mechanism(ALL_TYPES * 2, 5, convention="mujoco", armature=True)
    whole = replace(whole, gravity=(0.0, 0.0, 0.0))
    root = next(b for b, body in enumerate(whole.bodies) if sum(other.parent == b for other in whole.bodies) > 1)
    part = whole.subtree(f"tool{root}", base)  # type: ignore[arg-type]
    q, *_ = state(whole, 1)
    kept = [name for name in part.joint_names if name in whole.joint_names]
    joints = dict(zip(part.joint_names, zip(part.q_slices, part.v_slices, strict=True), strict=True))
    x, v, a = part.neutral(), np.zeros(part.nv), np.zeros(part.nv)
    big_v, big_a = np.zeros(whole.nv), np.zeros(whole.nv)
    rng, free = np.random.default_rng(0), []
    for name, i, j in zip(whole.joint_names, whole.q_slices, whole.v_slices, strict=True):
        if name in kept:
            x[joints[name][0]] = q[i]
            v[joints[name][1]] = big_v[j] = rng.standard_normal(j.stop - j.start)
            a[joints[name][1]] = big_a[j] = rng.standard_normal(j.stop - j.start)
            free += [(n, m) for n, m in zip(range(100)[j], range(100)[joints[name][1]], strict=True)]
    big, small = (list(n) for n in zip(*free, strict=True))
    tau = ORACLE["rnea"](whole, q, big_v, big_a)[big]
    assert error(ORACLE["rnea"](part, x, v, a)[small], tau) < 1e-12
    assert part.frame(f"tool{root}").placement.translation == (0.0, 0.0, 0.0)
    assert part.floating == (base == "floating")


@pytest.mark.parametrize("name", ["talos", "solo12", "panda"])
def test_a_model_written_as_a_file_reads_back_the_same(tmp_path: Path, name: str) -> None:
    model, path = load(name), tmp_path / "again.json"
    path.write_text(write_json(described(model)), encoding="utf-8")
    again = load(path)
    assert (again.bodies, again.nodes, again.notes, again.gravity) == (
        model.bodies,
        model.nodes,
        model.notes,
        model.gravity,
    )
    assert set(again.frames) == set(model.frames)


@pytest.mark.parametrize(("seed", "base"), [(0, "fixed"), (1, "floating")])
def test_a_reduced_model_written_as_a_file_moves_the_same(tmp_path: Path, seed: int, base: str) -> None:
    _, left, _ = locked_half(seed, base, "pinocchio")
    path = tmp_path / "again.json"
    path.write_text(write_json(described(left)), encoding="utf-8")
    again, (q, v, a) = load(path), left.random(0)
    names = tuple(frame.name for frame in left.frames)
    assert (again.joint_names, again.notes[-1]) == (left.joint_names, left.notes[-1])
    assert error(ORACLE["rnea"](again, q, v, a), ORACLE["rnea"](left, q, v, a)) < 1e-12
    assert error(ORACLE["fk"](again, q, v, frames=names), ORACLE["fk"](left, q, v, frames=names)) < 1e-12


def test_constants_in_mjcf_and_urdf_lock_their_joint(tmp_path: Path) -> None:
    body = '<body name="{0}"><joint name="{0}" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/>{1}</body>'
    bodies = body.format("a", body.format("b", ""))
    text = '<mujoco><compiler angle="radian"/><worldbody>{}</worldbody><equality>{}</equality></mujoco>'
    path = tmp_path / "still.xml"
    path.write_text(text.format(bodies, ""), encoding="utf-8")
    expected = load(path).lock({"b": 0.3})
    for others in ('joint1="b" polycoef="0.3 0 0 0 0"', 'joint1="b" joint2="a" polycoef="0.3 0 0 0 0"'):
        path.write_text(text.format(bodies, f"<joint {others}/>"), encoding="utf-8")
        found = load(path)
        assert (found.joint_names, found.bodies, found.frames) == (("a",), expected.bodies, expected.frames)
    mimic = """<robot name="r"><link name="w"/><link name="a"/><link name="b"/>
      <joint name="a" type="revolute"><parent link="w"/><child link="a"/><limit effort="1" velocity="1"/></joint>
      <joint name="b" type="revolute"><parent link="a"/><child link="b"/><limit effort="1" velocity="1"/>
      <mimic joint="a" multiplier="0" offset="0.2"/></joint></robot>"""
    urdf = tmp_path / "still.urdf"
    urdf.write_text(mimic, encoding="utf-8")
    assert load(urdf).joint_names == ("a",)
