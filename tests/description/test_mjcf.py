"""MJCF: against MuJoCo's own kinematics and mass matrix, and against the URDF of the same robot."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import mujoco
import numpy as np
import pytest
from mujoco_peer import inertia_matrix

from codegen.description import read
from codegen.errors import RobotError
from codegen.geometry import Pose
from codegen.oracle import ORACLE, dynamics
from codegen.oracle.kinematics import motions
from codegen.oracle.loops import closed
from codegen.robot import load

if TYPE_CHECKING:
    from pathlib import Path


def _numbers(draw: random.Random, count: int = 3) -> str:
    return " ".join(str(round(draw.uniform(-1, 1), 3)) for _ in range(count))


def _body(draw: random.Random, name: str, joints: str, inner: str = "") -> str:
    return (
        f'<body name="{name}" pos="{_numbers(draw)}" euler="{_numbers(draw)}">{joints}{inner}'
        f'<geom type="box" size="0.1 0.2 0.3" pos="{_numbers(draw)}" euler="{_numbers(draw)}"/>'
        f'<site name="{name}" pos="{_numbers(draw)}"/></body>'
    )


def _joint(draw: random.Random, name: str, kind: str) -> str:
    ref = f'ref="{round(draw.uniform(-1, 1), 3)}"' if kind in ("hinge", "slide") else ""
    axis = f'axis="{_numbers(draw)}"' if ref else ""
    return f'<joint name="{name}" type="{kind}" pos="{_numbers(draw)}" {axis} {ref} armature="0.1"/>'


def _robot(seed: int) -> str:
    """Free base, several joints on one body, anchors off the origin, refs, a ball, a welded body."""
    draw = random.Random(seed)
    tip = _body(draw, "tip", _joint(draw, "ball", "ball"))
    welded = _body(draw, "welded", "", _body(draw, "wrist", _joint(draw, "w", "hinge")))
    arm = _body(draw, "arm", "".join(_joint(draw, f"a{i}", k) for i, k in enumerate(("hinge", "slide", "hinge"))), tip)
    return (
        '<mujoco model="random"><compiler angle="radian"/><option gravity="1 2 -3"/><worldbody>'
        + _body(draw, "base", "<freejoint/>", welded + arm)
        + _body(draw, "other", _joint(draw, "o", "hinge"))
        + "</worldbody></mujoco>"
    )


@pytest.mark.parametrize("seed", range(4))
def test_kinematics_and_mass_matrix_are_mujocos(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "r.xml"
    path.write_text(_robot(seed), encoding="utf-8")
    model = load(path, convention="mujoco")
    peer = mujoco.MjModel.from_xml_string(_robot(seed))
    data = mujoco.MjData(peer)
    q, _, _ = model.random(seed)
    assert (model.nq, model.nv) == (peer.nq, peer.nv)
    data.qpos[:] = q
    mujoco.mj_forward(peer, data)
    moving = motions(model, q)
    for frame in model.frames:
        kind = mujoco.mjtObj.mjOBJ_SITE if frame.name.endswith("_site") else mujoco.mjtObj.mjOBJ_BODY
        index = mujoco.mj_name2id(peer, kind, frame.name.removesuffix("_site"))
        if index < 0 or frame.body < 0:
            continue
        pose = moving[frame.body].at(frame.placement)
        at, turn = (data.site_xpos, data.site_xmat) if frame.name.endswith("_site") else (data.xpos, data.xmat)
        np.testing.assert_allclose(pose.p, at[index], atol=1e-12)
        np.testing.assert_allclose(pose.R.ravel(), turn[index].ravel(), atol=1e-12)
    assert model.gravity == (1.0, 2.0, -3.0)
    np.testing.assert_allclose(dynamics.crba(model, q), inertia_matrix(peer, data), atol=1e-9, rtol=1e-10)


def test_a_fixed_base_welds_a_free_body_where_the_file_puts_it(tmp_path: Path) -> None:
    text = _robot(5)
    path = tmp_path / "r.xml"
    path.write_text(text, encoding="utf-8")
    free, welded = load(path, convention="mujoco"), load(path, base="fixed")
    peer = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(peer)
    mujoco.mj_kinematics(peer, data)
    pose = welded.frame("welded")
    np.testing.assert_allclose(pose.placement.p, data.body("welded").xpos, atol=1e-12)
    np.testing.assert_allclose(pose.placement.R, data.body("welded").xmat.reshape(3, 3), atol=1e-12)
    assert (pose.body, welded.floating, free.nv - welded.nv) == (-1, False, 6)
    assert free.bodies[0].placement == Pose()


INERTIAL = '<inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.5 0.6 0.7 0.01 0.02 0.03"/>'
URDF_INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>'
    '<inertia ixx="0.5" iyy="0.6" izz="0.7" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial>'
)


def test_the_same_robot_as_urdf_and_as_mjcf(tmp_path: Path) -> None:
    mjcf, urdf = tmp_path / "r.xml", tmp_path / "r.urdf"
    mjcf.write_text(
        '<mujoco model="r"><compiler angle="degree"/><worldbody><body name="base">'
        f'{INERTIAL}<body name="a" pos="1 2 3" euler="90 0 0"><joint name="ja" axis="0 0 1" range="-90 180"/>'
        f'{INERTIAL}<body name="b" pos="0 0 1"><joint name="jb" type="slide" axis="0 3 4"/>{INERTIAL}'
        f'<body name="c" pos="0 1 0">{INERTIAL}</body></body></body></body></worldbody></mujoco>',
        encoding="utf-8",
    )
    links = "".join(f'<link name="{name}">{URDF_INERTIAL}</link>' for name in ("base", "a", "b", "c"))
    urdf.write_text(
        f'<robot name="r"><link name="world"/>{links}'
        '<joint name="base_fixed" type="fixed"><parent link="world"/><child link="base"/></joint>'
        '<joint name="ja" type="revolute"><parent link="base"/><child link="a"/>'
        '<origin xyz="1 2 3" rpy="1.5707963267948966 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-1.5707963267948966" upper="3.141592653589793"/></joint>'
        '<joint name="jb" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/>'
        '<axis xyz="0 3 4"/></joint><joint name="jc" type="fixed"><parent link="b"/><child link="c"/>'
        '<origin xyz="0 1 0"/></joint></robot>',
        encoding="utf-8",
    )
    for base in ("fixed", "floating"):
        one, other = load(mjcf, base=base), load(urdf, base=base)
        assert one.joint_names == other.joint_names
        assert [f.name for f in one.frames] == [f.name for f in other.frames]
        for a, b in zip(one.bodies, other.bodies, strict=True):
            assert (a.name, a.parent, a.joint.type) == (b.name, b.parent, b.joint.type)
            assert a.placement == b.placement
            assert a.joint.axis == pytest.approx(b.joint.axis, abs=1e-15)
            assert (a.joint.lower, a.joint.upper) == (b.joint.lower, b.joint.upper)
            assert a.inertia == b.inertia


def _write(path: Path, worldbody: str, rest: str = "") -> Path:
    path.write_text(f"<mujoco><worldbody>{worldbody}</worldbody>{rest}</mujoco>", encoding="utf-8")
    return path


MESH = '<asset><mesh name="m" file="/dev/zero.stl"/><material name="k"/></asset>'


def test_meshes_are_not_needed_where_the_inertia_is_stated(tmp_path: Path) -> None:
    body = f'<body name="a"><joint/>{INERTIAL}<geom type="mesh" mesh="m" material="k"/></body>'
    model = load(_write(tmp_path / "m.xml", body, MESH))
    assert model.bodies[0].inertia.mass == 2.0


def test_a_mass_from_a_mesh_is_refused(tmp_path: Path) -> None:
    body = '<body name="a"><joint/><geom type="mesh" mesh="m"/></body>'
    with pytest.raises(RobotError, match="mass of body 'a' comes from the mesh 'm'"):
        load(_write(tmp_path / "m.xml", body, MESH))


@pytest.mark.parametrize("stated", ['<geom size="1" mass="nan"/>', '<geom size="1" pos="0 0 NaN"/>'])
def test_what_is_no_number_is_refused(tmp_path: Path, stated: str) -> None:
    with pytest.raises(RobotError, match=r"line 1: <geom>, (mass|pos): '(nan|NaN)' is not a finite number"):
        load(_write(tmp_path / "n.xml", f'<body name="nan"><joint/>{stated}</body>'))


def test_includes_and_defaults(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(
        '<mujocoinclude><body name="a"><joint name="j"/><geom size="1"/></body></mujocoinclude>',
        encoding="utf-8",
    )
    model = load(_write(tmp_path / "r.xml", '<include file="part.xml"/>', '<default><joint axis="0 1 0"/></default>'))
    assert model.bodies[0].joint.axis == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("file", ["/dev/zero", "missing.xml", ".", "a\\0b"])
def test_included_files_must_be_regular_and_relative(tmp_path: Path, file: str) -> None:
    with pytest.raises(RobotError, match="included file") as caught:
        load(_write(tmp_path / "r.xml", f'<include file="{file}"/>'))
    assert "\n" not in str(caught.value)


LOOPED = (
    '<body name="a"><joint name="ja" ref="0.5"/><geom size="1"/></body>'
    '<body name="b"><joint name="jb" ref="-0.25"/><geom size="1"/></body>'
)


def test_equalities_become_loops(tmp_path: Path) -> None:
    gear = '<joint name="gear" joint1="ja" joint2="jb" polycoef="0.1 3"/>'
    cam = '<joint name="cam" joint1="ja" joint2="jb" polycoef="0 0 2"/>'
    options = '<compiler angle="radian"/>'
    geared = load(_write(tmp_path / "r.xml", LOOPED, f"<equality>{gear}</equality>{options}"))
    assert [(loop.kind, loop.independent) for loop in geared.loops] == [("linear", ("jb",))]
    # q_a - 0.5 = 0.1 + 3 (q_b + 0.25)
    assert '"matrix":[[3.0]]' in geared.loops[0].data
    assert '"offset":[1.35]' in geared.loops[0].data
    cammed = load(_write(tmp_path / "r.xml", LOOPED, f"<equality>{cam}</equality>{options}"))
    assert [(loop.kind, loop.independent) for loop in cammed.loops] == [("expression", ("jb",))]
    assert cammed.nodes[0].loops == (0,)
    with pytest.raises(RobotError, match="couplings must give just as many dependent joints"):
        load(_write(tmp_path / "r.xml", LOOPED, f'<equality>{gear}<joint joint1="ja" joint2="jb"/></equality>'))


@pytest.mark.parametrize(("flag", "loops"), [("gravity", 1), ("equality", 0), ("constraint", 0), ("contact", 1)])
def test_what_a_file_switches_off_is_off(tmp_path: Path, flag: str, loops: int) -> None:
    gear = '<equality><joint joint1="ja" joint2="jb" polycoef="0.1 3"/></equality>'
    options = f'<compiler angle="radian"/><option gravity="1 2 -3"><flag {flag}="disable"/></option>'
    model = load(_write(tmp_path / "r.xml", LOOPED, gear + options))
    assert model.gravity == ((0.0, 0.0, 0.0) if flag == "gravity" else (1.0, 2.0, -3.0))
    assert len(model.loops) == loops
    assert loops or any("equality" in note for note in model.notes)


def test_what_moves_the_robot_in_mujoco_only_is_noted(tmp_path: Path) -> None:
    def notes(options: str) -> tuple[str, ...]:
        return load(_write(tmp_path / "r.xml", LOOPED, f"<option {options}/>")).notes

    assert notes('density="1.2" wind="1 0 0"') == ("Not part of the model: fluid forces, wind.",)
    assert notes('viscosity="1e-5"') == ("Not part of the model: fluid forces.",)
    assert notes("") == ()


def test_an_equality_without_a_second_joint_fixes_the_first(tmp_path: Path) -> None:
    equality = '<equality><joint joint1="ja" polycoef="0.25"/></equality><compiler angle="radian"/>'
    model = load(_write(tmp_path / "r.xml", LOOPED, equality), convention="mujoco")
    assert (model.joint_names, model.loops) == (("jb",), ())
    peer = mujoco.MjModel.from_xml_path(str(tmp_path / "r.xml"))
    data = mujoco.MjData(peer)
    data.qpos[:] = 0.75, 0.3
    mujoco.mj_kinematics(peer, data)
    frame = model.frame("a")
    np.testing.assert_allclose(frame.placement.R, data.body("a").xmat.reshape(3, 3), atol=1e-14)


@pytest.mark.parametrize(("equality", "counts"), [("connect", "3 of 7"), ("weld", "6 of 7")])
def test_an_equality_that_no_whole_joints_follow_is_refused_with_a_mend(
    tmp_path: Path, equality: str, counts: str
) -> None:
    bodies = '<body name="a"><freejoint/><geom size="1"/></body>' + LOOPED.partition("</body>")[2]
    path = _write(tmp_path / "r.xml", bodies, f'<equality><{equality} name="e" body1="a" body2="b"{{}}/></equality>')
    path.write_text(path.read_text().format(' anchor="1 0 0"' if equality == "connect" else ""))
    says = rf"'e' determines {counts} joint motions, but 1 is to follow .*; remove the loop \(in MJCF: the equality\)"
    with pytest.raises(RobotError, match=says):
        load(path)


NAMELESS = {
    '<connect body1="a" body2="b" anchor="0 0 0"{}/>': "connect of bodies 'a' and 'b'",
    '<weld body1="a"{}/>': "weld of bodies 'a' and 'world'",
    '<connect site1="sa" site2="sb"{}/>': "connect of sites 'sa' and 'sb'",
    '<joint joint1="ja" joint2="jb"{}/>': "equality of joints 'ja' and 'jb'",
    '<joint joint1="ja"{}/>': "equality of joint 'ja'",
}


@pytest.mark.parametrize("equality", NAMELESS)
def test_an_equality_without_a_name_is_called_by_what_it_ties(tmp_path: Path, equality: str) -> None:
    bodies = LOOPED.replace("<geom", '<site name="sa"/><geom', 1)
    bodies = '<site name="sb"/><geom'.join(bodies.rsplit("<geom", 1))
    off = equality.format(' active="false"')
    model = load(_write(tmp_path / "r.xml", bodies, f"<equality>{off}</equality>"))
    assert model.notes == (f"Not part of the model: the {NAMELESS[equality]}.",)
    kept = read(_write(tmp_path / "r.xml", bodies, f"<equality>{equality.format('') * 2}</equality>"))
    name = NAMELESS[equality].replace("'", "")
    assert [loop.name for loop in kept.loops] == [name, f"{name}_2"]


@pytest.mark.parametrize(
    ("equality", "called"),
    [
        ('<weld body1="hand" body2="b"/>', "weld of bodies 'hand' and 'b'"),
        ('<connect body1="b" body2="hand" anchor="0 0 0"/>', "connect of bodies 'b' and 'hand'"),
        ('<weld site1="grip" site2="held"/>', "weld of sites 'grip' and 'held'"),
    ],
)
def test_what_a_mocap_body_leads_is_free(tmp_path: Path, equality: str, called: str) -> None:
    """Its user moves it: the robot is none that is held where the file begins."""
    bodies = LOOPED.replace("<geom", '<site name="held"/><geom').replace('"held"', '"free"', 1)
    bodies += '<body name="hand" mocap="true"><site name="grip"/><geom size="1"/></body>'
    model = load(_write(tmp_path / "r.xml", bodies, f"<equality>{equality}</equality>"))
    assert (model.nv, model.loops) == (2, ())
    assert f"Not part of the model: the {called}." in model.notes


def test_a_tendon_that_is_left_out_is_called_by_its_name(tmp_path: Path) -> None:
    tendon = '<tendon><fixed name="t"><joint joint="ja" coef="1"/></fixed></tendon>'
    model = load(_write(tmp_path / "r.xml", LOOPED, f'{tendon}<equality><tendon tendon1="t"/></equality>'))
    assert model.notes == ("Not part of the model: tendons, the equality of tendon 't'.",)


FOUR_BAR = (
    '<body name="crank"><joint name="q1" axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.3"/>'
    '<body name="coupler" pos="0 0 0.3"><joint name="q2" axis="0 1 0"/>'
    '<geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0.1"/></body></body>'
    '<body name="rocker" pos="0.5 0 0"><joint name="q3" axis="0 1 0"/>'
    '<geom type="capsule" size="0.02" fromto="0 0 0 0 0 0.4"/></body>'
)
CLOSING = {
    "connect": '<connect body1="coupler" body2="rocker" anchor="0.5 0 0.1"/>',
    "weld": '<weld body1="coupler" body2="tip"/>',
}


@pytest.mark.parametrize("kind", CLOSING)
def test_a_four_bar_closed_by_an_equality_moves_as_mujocos(tmp_path: Path, kind: str) -> None:
    # a weld closes the four-bar through a fourth hinge; out of its plane both hold more than they need to
    tip = '<body name="tip" pos="0 0 0.4"><joint name="q4" axis="0 1 0"/><geom size="0.01"/></body></body>'
    bodies = FOUR_BAR if kind == "connect" else FOUR_BAR.removesuffix("</body>") + tip
    path = _write(tmp_path / "r.xml", bodies, f"<equality>{CLOSING[kind]}</equality>")
    model = load(path, convention="mujoco")
    (loop,) = model.loops
    assert (model.nv, loop.independent) == (1, ("q1",))
    peer = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(peer)
    for seed in range(3):
        q, v, _ = model.random(seed)
        moving = closed(model, q)
        data.qpos[:], data.qvel[:] = moving.q, moving.G @ v
        mujoco.mj_forward(peer, data)
        # MuJoCo's own residual of the equality, and its Jacobian
        rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        J = data.efc_J.reshape(-1, peer.nv)[rows] if data.efc_J.size == rows.size * peer.nv else None
        assert np.abs(data.efc_pos[rows]).max() < 1e-9
        assert np.abs(data.efc_vel[rows]).max() < 1e-9 * np.abs(moving.G @ v).max()
        assert J is None or np.abs(J @ moving.G).max() < 1e-9
        M = inertia_matrix(peer, data)
        np.testing.assert_allclose(ORACLE["crba"](model, q), moving.G.T @ M @ moving.G, rtol=1e-10)
