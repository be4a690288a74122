"""URDF: against Pinocchio where it reads the same thing, and by hand where it does not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import pytest

import codegen
from codegen.description import read
from codegen.errors import RobotError
from codegen.geometry import Inertia, Pose
from codegen.ir.interpreter import interpret
from codegen.oracle.kinematics import motions
from codegen.robot import load

if TYPE_CHECKING:
    from pathlib import Path

INERTIAL = (
    '<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/><mass value="{mass}"/>'
    '<inertia ixx="0.4" ixy="0.01" ixz="-0.02" iyy="0.5" iyz="0.03" izz="0.6"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="2" effort="30" velocity="4"/>'
JOINTS = (
    # name, type, parent, child, axis: names are out of alphabetical order on purpose
    ("zulu", "revolute", "base", "a", "1 2 3"),
    ("alpha", "continuous", "a", "b", "0 0 -2"),
    ("mike", "fixed", "b", "plate", None),
    ("yankee", "prismatic", "plate", "c", "0 1 1"),
    ("bravo", "fixed", "plate", "tool", None),
    ("xray", "planar", "b", "d", "0 0 1"),
    ("charlie", "floating", "d", "e", None),
    ("lima", "revolute", "base", "f", None),
    ("delta", "fixed", "base", "camera", None),
)


def _urdf() -> str:
    links = "".join(
        f'<link name="{name}">{INERTIAL.format(mass=1 + i) if name != "tool" else ""}</link>'
        for i, name in enumerate(("base", *(child for _, _, _, child, _ in JOINTS)))
    )
    joints = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.{i + 1} {i} -0.3" rpy="{0.1 * i} -0.5 {1.3 - 0.2 * i}"/>'
        + (f'<axis xyz="{axis}"/>' if axis else "")
        + (LIMIT if kind in ("revolute", "prismatic") else "")
        + "</joint>"
        for i, (name, kind, parent, child, axis) in enumerate(JOINTS)
    )
    return f'<robot name="all_joints">{links}{joints}</robot>'


def write(path: Path, links: str, joints: str = "") -> Path:
    path.write_text(f'<robot name="r">{links}{joints}</robot>', encoding="utf-8")
    return path


def joint(kind: str, inner: str = "", *, name: str = "j", parent: str = "base", child: str = "a") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


TWO = '<link name="base"/><link name="a"/>'


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    path = tmp_path / "all.urdf"
    path.write_text(_urdf(), encoding="utf-8")
    return path


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_tree_placements_inertias_and_frames_are_pinocchios(robot: Path, base: str) -> None:
    root = [pin.JointModelFreeFlyer()] if base == "floating" else []
    peer = pin.buildModelFromXML(_urdf(), *root)
    model = load(robot, base=base, order="name", snap=0.0)
    assert list(model.joint_names)[len(root) :] == list(peer.names)[1 + len(root) :]
    for i, body in enumerate(model.bodies, start=1):
        assert peer.parents[i] == body.parent + 1
        placement, inertia = peer.jointPlacements[i], peer.inertias[i]
        np.testing.assert_allclose(body.placement.R, placement.rotation, atol=1e-14)
        np.testing.assert_allclose(body.placement.p, placement.translation, atol=1e-14)
        assert body.inertia.mass == pytest.approx(inertia.mass, rel=1e-15)
        np.testing.assert_allclose(body.inertia.com, inertia.lever, atol=1e-14)
        np.testing.assert_allclose(body.inertia.moment, inertia.inertia, atol=1e-12)
    for frame in model.frames:
        peer_frame = peer.frames[peer.getFrameId(frame.name, pin.FrameType.BODY)]
        assert peer_frame.parentJoint == frame.body + 1
        np.testing.assert_allclose(frame.placement.R, peer_frame.placement.rotation, atol=1e-14)
        np.testing.assert_allclose(frame.placement.p, peer_frame.placement.translation, atol=1e-14)


def test_a_quaternion_may_stand_for_roll_pitch_yaw(tmp_path: Path) -> None:
    length = 3.0  # any will do
    quaternion = length * pin.Quaternion(pin.rpy.rpyToMatrix(0.4, 0.5, -0.6)).coeffs()
    bodies = []
    for rotation in ('rpy="0.4 0.5 -0.6"', f'quat_xyzw="{" ".join(map(str, quaternion))}"'):
        links = f'<link name="base"/><link name="a">{INERTIAL.format(mass=1)}</link>'.replace(
            'rpy="0.4 0.5 -0.6"', rotation
        )
        path = write(tmp_path / "q.urdf", links, joint("revolute", f'<origin xyz="1 2 3" {rotation}/>'))
        bodies += load(path).bodies
    by_angles, by_quaternion = bodies
    np.testing.assert_allclose(by_quaternion.placement.R, by_angles.placement.R, atol=1e-15)
    np.testing.assert_allclose(by_quaternion.inertia.moment, by_angles.inertia.moment, atol=1e-15)
    assert by_quaternion.placement.translation == (1.0, 2.0, 3.0)


def test_file_order_is_depth_first_in_document_order(robot: Path) -> None:
    assert load(robot).joint_names == ("zulu", "alpha", "yankee", "xray", "charlie", "lima")
    assert load(robot, order="name").joint_names == ("lima", "zulu", "alpha", "yankee", "xray", "charlie")


def test_limits_axes_and_types(robot: Path) -> None:
    joints = {body.joint.name: body.joint for body in load(robot).bodies}
    assert joints["zulu"].axis == pytest.approx(np.array([1, 2, 3]) / math.sqrt(14), abs=1e-15)
    assert (joints["zulu"].lower, joints["zulu"].upper) == (-1.0, 2.0)
    assert (joints["zulu"].velocity, joints["zulu"].effort) == (4.0, 30.0)
    assert joints["alpha"].type == "revolute"
    assert joints["alpha"].axis == (0.0, 0.0, -1.0)
    assert joints["alpha"].lower == -math.inf
    assert joints["lima"].axis == (1.0, 0.0, 0.0)


def test_limits_beyond_what_numbers_may_be_are_none(tmp_path: Path) -> None:
    """As in files that Gazebo writes."""
    links = "".join(f'<link name="{name}">{INERTIAL.format(mass=1)}</link>' for name in ("base", "rotor"))
    limit = '<limit effort="0" lower="-1e+16" upper="1e16" velocity="1e30"/>'
    model = load(write(tmp_path / "r.urdf", links, joint("revolute", limit, parent="base", child="rotor")))
    (rotor,) = (body.joint for body in model.bodies)
    assert (rotor.lower, rotor.upper, rotor.velocity, rotor.effort) == (-math.inf, math.inf, math.inf, 0.0)


def test_base_choices_and_the_root_frame(robot: Path) -> None:
    fixed, floating = load(robot), load(robot, base="floating")
    assert fixed.frame("base").body == fixed.frame("camera").body == -1
    assert any("'base'" in note for note in fixed.notes)
    assert floating.bodies[0].name == "base"
    assert floating.bodies[0].joint.name == "floating_base"
    assert floating.frame("base").body == floating.frame("camera").body == 0
    assert floating.nodes[0].parent == -1


def test_floating_base_of_an_empty_world_link(tmp_path: Path) -> None:
    links = f'<link name="world"/><link name="base">{INERTIAL.format(mass=1)}</link>'
    origin = '<origin xyz="1 2 3"/>'
    path = write(tmp_path / "w.urdf", links, joint("fixed", origin, parent="world", child="base"))
    model = load(path, base="floating")
    assert model.bodies[0].name == "base"
    assert model.bodies[0].placement == Pose()
    assert model.frame("world").body == -1


def test_fixed_base_welds_a_floating_joint(tmp_path: Path) -> None:
    path = write(tmp_path / "f.urdf", TWO, joint("floating"))
    assert load(path).floating
    welded = load(path, base="fixed")
    assert welded.bodies == ()
    assert load(path, base="floating") == load(path)


def test_planar_joint_moves_across_its_axis(tmp_path: Path) -> None:
    axis = np.array([0.48, 0.6, 0.64])
    inner = '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0.48 0.6 0.64"/>'
    link = f'<link name="base"/><link name="a">{INERTIAL.format(mass=2)}</link>'
    model = load(write(tmp_path / "p.urdf", link, joint("planar", inner)))
    stated = read(tmp_path / "p.urdf").joints[0].placement
    frame = model.frame("a")
    for q in ([0.0, 0.0, 0.0], [0.3, -0.4, 0.0], [0.0, 0.0, 0.7]):
        moved = motions(model, q)[0].at(frame.placement)
        inside = stated.R.T @ (moved.p - stated.p)
        assert inside @ axis == pytest.approx(0.0, abs=1e-15)
        assert np.linalg.norm(inside) == pytest.approx(math.hypot(q[0], q[1]), abs=1e-15)
        turned = stated.R.T @ moved.R
        np.testing.assert_allclose(turned @ axis, axis, atol=1e-15)
        assert np.trace(turned) == pytest.approx(1 + 2 * math.cos(q[2]))
    # The inertia is the link's, wherever the body frame points.
    own = model.bodies[0].inertia.moved(frame.placement.inverse())
    np.testing.assert_allclose(own.moment, read(tmp_path / "p.urdf").links[1].inertia.moment, atol=1e-15)


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 -1", "1 0 0", "1e-9 0 -1", "-3 2 0.1"])
def test_planar_frames_keep_the_link_in_place(tmp_path: Path, axis: str) -> None:
    model = load(write(tmp_path / "p.urdf", TWO, joint("planar", f'<axis xyz="{axis}"/>')))
    placed = model.bodies[0].placement @ model.frame("a").placement
    np.testing.assert_allclose(placed.R, np.eye(3), atol=1e-15)
    normal = np.array([float(x) for x in axis.split()])
    np.testing.assert_allclose(model.bodies[0].placement.R[:, 2], normal / np.linalg.norm(normal), atol=1e-15)


def test_spherical_extension_and_defaults(tmp_path: Path) -> None:
    model = load(write(tmp_path / "s.urdf", TWO, joint("spherical")))
    assert (model.nq, model.nv) == (4, 3)
    assert model.bodies[0].placement == Pose()
    assert any("without inertia" in note for note in model.notes)


def test_right_angles_become_exact_and_can_be_kept(tmp_path: Path) -> None:
    inner = '<origin xyz="0 1e-15 2" rpy="1.57079632679 0 3.14159265359"/>'
    path = write(tmp_path / "n.urdf", TWO, joint("revolute", inner))
    exact = load(path).bodies[0].placement
    assert exact.rotation == ((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    assert exact.translation == (0.0, 0.0, 2.0)
    kept = load(path, snap=0.0).bodies[0].placement
    assert kept.rotation[1][1] != 0.0
    assert kept.translation[1] == 1e-15


def test_right_angles_of_few_digits_stay_what_they_are_unless_asked(tmp_path: Path) -> None:
    """1.5708 and 3.1416 miss right angles by 4e-6 and 7e-6; two of them leave products that look like rounding."""
    turns = ("1.5708 0 0", "0 1.5708 1.5708", "1.5708 0 -3.1416", "-1.57 3.1416 1.57", "0.3 -1.5708 0")
    names = ("base", *"abcde")
    links = "".join(f'<link name="{name}">{INERTIAL.format(mass=1)}</link>' for name in names)
    joints = "".join(
        joint(
            "revolute", f'<origin xyz="1 0 2" rpy="{rpy}"/><axis xyz="0 0 1"/>{LIMIT}', name=f"j{b}", parent=a, child=b
        )
        for a, b, rpy in zip(names[:-1], names[1:], turns, strict=True)
    )
    path = write(tmp_path / "few.urdf", links, joints)
    model, peer = load(path), pin.buildModelFromUrdf(str(path))
    q, v, a = np.random.default_rng(3).standard_normal((3, 5))
    kept, exact = (codegen.graphs(load(path, snap=snap), "rnea")[1] for snap in (1e-11, 1e-5))
    np.testing.assert_allclose(interpret(kept, q, v, a)[0], pin.rnea(peer, peer.createData(), q, v, a), atol=1e-9)
    assert len(exact.values) < 0.9 * len(kept.values)
    said = "Within 1e-05 rad of right angles, as 1.5708 is: 'ja', 'jb', 'jc', 'jd', 'je'; snap=1e-05 (--snap 1e-05)"
    assert [said in note for note in (*model.notes, *load(path, snap=1e-5).notes)].count(True) == 1


def test_welded_links_make_up_for_a_moment_of_inertia_below_zero(tmp_path: Path) -> None:
    """As TIAGo's antennas, which are next to nothing; alone they would be refused. Rounding (iCub's) counts as zero."""
    wrong = INERTIAL.format(mass=1e-6).replace('"0.01"', '"0.6"')
    links = f'<link name="base">{INERTIAL.format(mass=1)}</link><link name="a">{wrong}</link>'
    heavy = links.replace('ixy="0.6"', 'ixy="6"')
    zero = '<inertia ixx="0" ixy="0" ixz="2.4e-35" iyy="0" iyz="0" izz="-5.4e-20"/>'
    for base in ("fixed", "floating"):
        model = load(write(tmp_path / "r.urdf", links, joint("fixed")), base=base)
        assert "No solid has such moments of inertia: 'a'." in model.notes
        with pytest.raises(RobotError, match="link 'a' has an inertia with the negative principal moment"):
            load(write(tmp_path / "heavy.urdf", heavy, joint("fixed")), base=base)
        with pytest.raises(RobotError, match="link 'a' has an inertia with the negative principal moment"):
            load(write(tmp_path / "moving.urdf", links, joint("revolute")), base=base)
        light = f'<link name="base"/><link name="a"><inertial><mass value="0.5"/>{zero}</inertial></link>'
        assert load(write(tmp_path / "r.urdf", light, joint("revolute")), base=base).bodies[-1].inertia == Inertia(0.5)


def test_moments_beside_a_mass_may_be_rounding_noise(tmp_path: Path) -> None:
    """As in the published file of iCub, whose head has products of inertia of 1e-35 kg m^2 alone."""
    moments = 'ixx="0" ixy="0" ixz="2.4e-35" iyy="0" iyz="0" izz="0"'
    inertial = f'<inertial><mass value="1.3"/><inertia {moments}/></inertial>'
    path = tmp_path / "head.urdf"
    path.write_text(f'<robot name="r"><link name="head">{inertial}</link></robot>')
    (head,) = load(path, "floating").bodies
    assert not np.any(head.inertia.moment)


def test_meshes_and_simulator_tags_are_never_looked_at(tmp_path: Path) -> None:
    links = (
        '<link name="base"><visual><geometry><mesh filename="/dev/zero"/></geometry></visual>'
        '<collision><geometry><mesh filename="file:///dev/stdin" scale="nan x"/></geometry></collision>'
        "</link>"
        '<transmission name="t"/><gazebo reference="nowhere"/>'
    )
    assert load(write(tmp_path / "m.urdf", links)).bodies == ()


def test_the_namespace_of_xacro_alone_does_no_harm(tmp_path: Path) -> None:
    """Many published files, expanded long ago, still declare it."""
    path = tmp_path / "r.urdf"
    mesh = '<visual><geometry><mesh filename="${meshes}/a.stl"/></geometry></visual>'
    path.write_text(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        f'<link name="base">{mesh}</link><link name="$a"/>{joint("revolute", child="$a")}</robot>'
    )
    assert load(path).frame("$a").body == 0


def test_options_are_checked(robot: Path) -> None:
    for options in ({"base": "loose"}, {"order": "size"}, {"convention": "x"}, {"snap": -1.0}):
        with pytest.raises(RobotError):
            load(robot, **options)


def test_gravity_replaces_the_files(robot: Path) -> None:
    assert load(robot).gravity == (0.0, 0.0, -9.81)
    assert load(robot, gravity=(0, 1, 2)).gravity == (0.0, 1.0, 2.0)
    for bad in ((0, math.nan, 2), (0, 1e300, 2), (1, 2), "abc", (1, [2], 3), 3):
        with pytest.raises(RobotError, match=r"gravity=.* must be three finite numbers, in m/s\^2"):
            load(robot, gravity=bad)
        with pytest.raises(RobotError, match=r"gravity=.* must be three finite numbers, in m/s\^2"):
            load("iiwa", gravity=bad)
