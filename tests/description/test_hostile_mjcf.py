"""Broken and hostile MJCF: one sentence that names the file, before MuJoCo builds anything large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from refusals import sentence

import codegen
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE
from codegen.robot import load

if TYPE_CHECKING:
    from pathlib import Path

MJCF = '<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>'
HUNDRED = '<replicate count="100">'
BAD_MJCF = {
    "no worldbody joint target": ('<mujoco><equality><joint joint1="x"/></equality></mujoco>', "MuJoCo"),
    "unknown attribute": ('<mujoco><worldbody><body nme="x"/></worldbody></mujoco>', "nme"),
    "plugin": (
        '<mujoco><extension><plugin plugin="x"/></extension></mujoco>',
        "<extension> is not supported",
    ),
    "nested": ("<mujoco><worldbody>" + "<body>" * 5000 + "</body>" * 5000 + "</worldbody></mujoco>", ""),
    "free below": (
        '<mujoco><worldbody><body><geom size="1"/><body><freejoint/><geom size="1"/></body></body>'
        "</worldbody></mujoco>",
        "",
    ),
    "massless": ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "mass"),
    "nan": (
        '<mujoco><worldbody><body pos="nan 0 0"><joint/><geom size="1"/></body></worldbody></mujoco>',
        "",
    ),
    "replicate": (
        '<mujoco><worldbody><replicate count="100000000"><geom size="1"/></replicate></worldbody></mujoco>',
        "elements made by <replicate> are more than the 10000",
    ),
    "replicate of nothing": (
        '<mujoco><worldbody><body><replicate count="100000000"/></body></worldbody></mujoco>',
        "elements made by <replicate> are more than the 10000",
    ),
    "height field beyond all numbers": (
        f'<mujoco><asset><hfield name="h" size="1 1 1 1" nrow="{10**308}" ncol="100"/></asset></mujoco>',
        "a height field of over a billion cells is larger than",
    ),
    "replicates within replicates": (
        f"<mujoco><worldbody>{HUNDRED * 9}<body/>{'</replicate>' * 9}</worldbody></mujoco>",
        "over a billion bodies are more than the 10000",
    ),
    "replicates in a namespace": (
        '<mujoco><worldbody><replicate xmlns="x" count="30000"><geom size="1"/></replicate></worldbody></mujoco>',
        "line 1: <replicate> is in a namespace, which MJCF does not know; remove xmlns",
    ),
    "replicated joints": (
        '<mujoco><worldbody><replicate count="1001"><body><joint/><geom size="1"/></body></replicate></worldbody>'
        "</mujoco>",
        "1001 moving joints are more than the 1000",
    ),
    "elements": (f"<mujoco><worldbody>{'<geom/>' * 20_000}</worldbody></mujoco>", "20002 elements are more than"),
    "height field": (
        '<mujoco><asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset></mujoco>',
        "a height field of over a billion cells",
    ),
    "itself": (
        '<mujoco><asset><model name="m" file="bad.xml"/></asset></mujoco>',
        "the file includes or attaches itself; remove the circle",
    ),
    "infinite equality": (
        '<mujoco><worldbody><body><joint name="j"/><geom size="1"/></body></worldbody><equality>'
        '<joint joint1="j" polycoef="inf"/></equality></mujoco>',
        "<joint>, polycoef: 'inf' is not a finite number",
    ),
    "quaternion that overflows": (
        '<mujoco><worldbody><body><joint/><geom size="1" quat="1e308 0 0.707 0"/></body></worldbody></mujoco>',
        "<geom>, quat: '1e308' is not a finite number, or beyond 1e+12",
    ),
    "height field that moves": (
        '<mujoco><asset><hfield name="h" nrow="3" ncol="3" size="1 1 1 1"/></asset><worldbody><body name="a"><joint/>'
        '<geom type="hfield" hfield="h"/></body></worldbody></mujoco>',
        "which rigidc cannot weigh",
    ),
    "bomb": ('<!DOCTYPE x [<!ENTITY a "b">]><mujoco model="&a;"/>', "DOCTYPE"),
}


@pytest.mark.parametrize("case", BAD_MJCF)
def test_bad_mjcf_gets_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    text, says = BAD_MJCF[case]
    path = tmp_path / "bad.xml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert says in sentence(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.xml"]


@pytest.mark.parametrize(
    "size",
    ["nkey", "nuserdata", "nuser_body", "nuser_jnt", "nuser_geom", "njmax", "nconmax", "nstack", "memory"],
)
def test_room_that_a_file_asks_for_is_not_made(tmp_path: Path, size: str) -> None:
    path = tmp_path / "r.xml"
    path.write_text(MJCF.replace("<worldbody>", f'<size {size}="2000000000"/><worldbody>', 1), encoding="utf-8")
    assert load(path).nv == 1


def test_models_that_attach_each_other_are_counted(tmp_path: Path) -> None:
    for n in range(12):
        inner = f'<asset><model name="m" file="{n + 1}.xml"/></asset>' if n < 11 else ""
        twice = "".join(f'<attach model="m" body="b" prefix="{n}{k}_"/>' for k in range(4)) if n < 11 else ""
        body = f'<body name="b"><geom size="1"/>{twice}</body>'
        (tmp_path / f"{n}.xml").write_text(f"<mujoco>{inner}<worldbody>{body}</worldbody></mujoco>", encoding="utf-8")
    assert "bodies are more than the 10000" in sentence(tmp_path / "0.xml")


def test_files_are_looked_for_where_mujoco_looks(tmp_path: Path) -> None:
    (tmp_path / "arm").mkdir()
    row = '<replicate count="1100"><body><joint/></body></replicate>'
    many = f'<mujoco model="m"><worldbody><body name="b">{row}</body></worldbody></mujoco>'
    few = '<mujoco model="m"><worldbody><body name="b"/></worldbody></mujoco>'
    middle = (
        '<asset><model file="m.xml"/></asset><worldbody><body name="c"><attach model="m" body="b" prefix="m"/></body>'
    )
    (tmp_path / "arm" / "a.xml").write_text(f'<mujoco model="a">{middle}</worldbody></mujoco>', encoding="utf-8")
    path = tmp_path / "r.xml"
    outer = '<asset><model file="arm/a.xml"/></asset><worldbody><attach model="a" body="c" prefix="a"/></worldbody>'
    path.write_text(f"<mujoco>{outer}</mujoco>", encoding="utf-8")
    for beside, inside, refused in ((many, few, False), (few, many, True)):
        (tmp_path / "m.xml").write_text(beside, encoding="utf-8")
        (tmp_path / "arm" / "m.xml").write_text(inside, encoding="utf-8")
        if refused:
            assert "moving joints are more than the 1000" in sentence(path)
        else:
            assert load(path).nv == 0


def test_a_linkage_in_which_a_follower_stands_still(tmp_path: Path) -> None:
    bodies = (
        '<body><joint axis="0 1 0"/><body name="a" pos="0 0 0.3">'
        '<geom type="capsule" size="2" fromto="0 0 0 0.5 0 0.1"/></body></body>'
        '<body name="b" pos="0.5 0 0"><joint/><geom type="cylinder" size="2 0.2"/></body>'
    )
    connect = '<connect body1="a" body2="b" anchor="0.5 0 0.1"/>'
    path = tmp_path / "r.xml"
    path.write_text(f"<mujoco><worldbody>{bodies}</worldbody><equality>{connect}</equality></mujoco>", encoding="utf-8")
    model = load(path)
    q, v, a = model.random(0)
    _, graph = codegen.graphs(model, "rnea")
    np.testing.assert_allclose(interpret(graph, q, v, a)[0], ORACLE["rnea"](model, q, v, a), rtol=1e-9)
