"""Bodies whose mass comes from meshes: weighed as MuJoCo's compiler does, in a child process, or refused by name."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import mujoco
import numpy as np
import pytest
from refusals import sentence
from thorough import besides

from codegen.description import mjcf_weigh
from codegen.description.rotations import from_wxyz
from codegen.geometry import Pose
from codegen.robot import load

if TYPE_CHECKING:
    from pathlib import Path

CORNERS = ((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.2, 0.0), (0.05, 0.03, 0.4))
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def stl() -> bytes:
    """A lopsided tetrahedron, as a binary STL file."""
    rows = [struct.pack("<12fH", *(0.0,) * 3, *(x for n in face for x in CORNERS[n]), 0) for face in FACES]
    return struct.pack("<80xI", len(FACES)) + b"".join(rows)


def obj() -> bytes:
    rows = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES]
    return "\n".join(rows).encode()


MESH = '<geom type="mesh" mesh="m"/>'
GEOMS = {
    "volume": MESH,
    "of_a_mass": '<geom type="mesh" mesh="m" mass="3" pos="0.1 0 0" euler="30 0 0"/>',
    "several": MESH + '<geom type="mesh" mesh="n" density="50"/><geom type="box" size="1 1 1"/>',
    "vertices": '<geom type="mesh" mesh="v"/>',
    "shell": '<geom type="mesh" mesh="s"/>',
    "convex": '<geom type="mesh" mesh="c"/>',
    "fitted": '<geom type="box" mesh="m"/>',
    "grouped": '<geom type="mesh" mesh="m" group="3"/><geom size="0.1"/>',
    "massless_geom": '<geom type="mesh" mesh="m" mass="0"/><geom size="0.1"/>',
    "box": '<geom type="box" size="0.1 0.2 0.3"/>',
    "stated": '<inertial pos="0 0 0.1" mass="2" fullinertia="0.5 0.6 0.7 0.01 0.02 0.03"/>' + MESH,
}
UNUSED = '<mesh name="unused" file="nowhere.stl"/>'


def written(folder: Path, compiler: str = "", geoms: str | None = None) -> Path:
    """A robot with a moving body of these geoms (none: a body for each of the above), and its mesh files."""
    (folder / "parts").mkdir(exist_ok=True)
    (folder / "parts" / "m.stl").write_bytes(stl())
    (folder / "parts" / "m.obj").write_bytes(obj())
    bodies = "".join(
        f'<body name="{name}" pos="1 2 3" euler="10 20 30"><joint name="{name}"/>{inner}</body>'
        for name, inner in (GEOMS if geoms is None else {"a": geoms}).items()
    )
    path = folder / "r.xml"
    path.write_text(
        f'<mujoco model="r"><compiler meshdir="parts" {compiler}/><asset><mesh name="m" file="m.stl"/>'
        '<mesh name="n" file="m.obj"/><mesh name="v" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>'
        '<mesh name="s" file="m.stl" inertia="shell" scale="1 2 -1"/>'
        f'<mesh name="c" file="m.stl" inertia="convex" refpos="0.1 0 0" refquat="1 1 0 0"/>{UNUSED}</asset>'
        f"<worldbody>{bodies}</worldbody></mujoco>",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    "compiler",
    besides(
        ['inertiafromgeom="true" inertiagrouprange="0 2"', 'boundmass="5" boundinertia="4" balanceinertia="true"'],
        [
            'discardvisual="true"',
            'inertiafromgeom="true" inertiagrouprange="0 2"',
            'settotalmass="70"',
            'boundmass="5" boundinertia="4" balanceinertia="true"',
        ],
    ),
)
def test_meshes_weigh_what_mujoco_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    monkeypatch.chdir(tmp_path)  # where MuJoCo logs its own warnings
    path = written(tmp_path, compiler)
    model = load(path)
    text = path.read_text(encoding="utf-8").replace(UNUSED, "")
    peer = mujoco.MjModel.from_xml_string(text, {"parts/m.stl": stl(), "parts/m.obj": obj()})
    assert len(model.bodies) == len(GEOMS)
    for body in model.bodies:
        b = peer.body(body.name).id
        turn = Pose(from_wxyz(peer.body_iquat[b])).R
        moment = turn @ np.diag(peer.body_inertia[b]) @ turn.T
        assert body.inertia.mass == peer.body_mass[b]
        np.testing.assert_allclose(body.inertia.com, peer.body_ipos[b], rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(body.inertia.moment, moment, rtol=0, atol=1e-14 * np.trace(moment))


def test_meshes_of_attached_models_are_found_beside_these(tmp_path: Path) -> None:
    (tmp_path / "arm" / "parts").mkdir(parents=True)
    (tmp_path / "arm" / "parts" / "m.stl").write_bytes(stl())
    (tmp_path / "arm" / "arm.xml").write_text(
        '<mujoco model="arm"><compiler meshdir="parts"/><asset><mesh file="m.stl"/></asset><worldbody><body name="b">'
        '<joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
        encoding="utf-8",
    )
    path = tmp_path / "r.xml"
    path.write_text(
        '<mujoco><asset><model file="arm/arm.xml"/></asset><worldbody><attach model="arm" body="b" prefix="l_"/>'
        '<attach model="arm" body="b" prefix="r_"/></worldbody></mujoco>',
        encoding="utf-8",
    )
    masses = [body.inertia.mass for body in load(path).bodies]
    assert masses == pytest.approx([4.0, 4.0], rel=1e-6)  # density times 0.3 * 0.2 * 0.4 / 6 m^3


def test_meshes_of_bodies_that_do_not_move_are_not_opened(tmp_path: Path) -> None:
    path = written(tmp_path, geoms='<geom size="0.1"/></body><body name="still">' + MESH)
    (tmp_path / "parts" / "m.stl").unlink()
    assert load(path).bodies[0].inertia.mass > 0.0


REFUSED = {
    "missing": ("m.stl", None, "is not there or not a regular file"),
    "folder": ("m.stl", "folder", "is not there or not a regular file"),
    "absolute": ("/etc/m.stl", b"", "absolute path"),
    "another format": ("m.dae", b"", "a format other than .stl, .obj, .msh"),
    "long name": ("m" * 400 + ".stl", b"", "is not there or not a regular file"),
    "empty": ("m.stl", b"", "MuJoCo cannot compile this file"),
    "more faces than bytes": ("m.stl", struct.pack("<80xI", 150_000), "MuJoCo cannot compile this file"),
    "text that is nobody's business": ("m.obj", b"secret 1 2 3", "a mesh cannot be read or weighed"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_meshes_that_cannot_be_weighed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    name, content, says = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "r.xml"
    path.write_text(
        f'<mujoco><asset><mesh name="m" file="{name}"/></asset><worldbody><body name="a"><joint/>'
        '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
        encoding="utf-8",
    )
    if content == "folder":
        (tmp_path / name).mkdir()
    elif content is not None and "/" not in name and len(name) < 100:
        (tmp_path / name).write_bytes(content)
    before = sorted(tmp_path.iterdir())
    message = sentence(path)
    assert says in message
    assert "secret" not in message
    assert sorted(tmp_path.iterdir()) == before


def test_the_child_is_limited_and_finds_no_modules_beside_the_robot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, geoms=MESH)
    (tmp_path / "numpy.py").write_text("raise SystemExit(3)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load(path).bodies[0].inertia.mass > 0.0
    monkeypatch.setattr(mjcf_weigh, "CHILD_MEMORY", 50 * 2**20)
    assert "fails to weigh it in" in sentence(path)
    monkeypatch.setattr(mjcf_weigh, "CHILD_SECONDS", 0)
    assert "for more than 0 s" in sentence(path)
