"""JSON: what is written reads back equal, to the last bit, from every format."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import jsonschema
import numpy as np
import pytest

from codegen.description import read, write_json
from codegen.description.description import DescribedFrame, DescribedJoint, Description, Link
from codegen.description.json_format import SCHEMA
from codegen.description.rotations import from_rpy
from codegen.geometry import Inertia, Pose, mat3
from codegen.model import Source
from codegen.robot import load

if TYPE_CHECKING:
    from pathlib import Path

THIRD = 1 / 3
FULL = Description(
    name='odd "name" */ 名',
    links=(
        Link("base", Inertia(THIRD, (0.1, 1e-300, -0.3), mat3([1, 0.1, 0.2, 0.1, 1.1, 0.3, 0.2, 0.3, 1.2]))),
        Link("a", Inertia(2.0, (0.0, 0.0, 0.0), mat3([0.1] + [0.0] * 3 + [0.2] + [0.0] * 3 + [THIRD]))),
        Link("b"),
        Link("c", Inertia(0.0, (0.0, 0.1, 0.0), mat3([1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0]))),
        Link("d"),
    ),
    joints=(
        DescribedJoint(
            "j",
            "revolute",
            "base",
            "a",
            Pose(from_rpy(0.1, 0.2, 0.3), (1.0, 2.0, THIRD)),
            (0.6, 0.0, 0.8),
            Pose(translation=(0.0, 0.0, 1e-17)),
            -THIRD,
            2.0,
            3.0,
            4.0,
            0.01,
        ),
        DescribedJoint("w", "fixed", "a", "b", Pose(translation=(0.0, 0.1, 0.0))),
        DescribedJoint("p", "planar", "b", "c", axis=(0.0, 1.0, 0.0)),
        DescribedJoint("f", "floating", "a", "d", home=Pose(from_rpy(0.1, 0.2, 0.3), (1.0, 2.0, THIRD))),
    ),
    frames=(DescribedFrame("tip", "b", Pose(from_rpy(1.0, 0.0, 0.0))),),
    base="floating",
    gravity=(0.1, -9.5, -2.0),
    source=Source("here", "1", "MIT"),
    notes=("A note.",),
)


def _copy(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "copy.json"
    path.write_text(text, encoding="utf-8")
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(json.loads(text))
    return path


def test_everything_reads_back_equal(tmp_path: Path) -> None:
    text = write_json(FULL)
    copy = _copy(tmp_path, text)
    assert read(copy) == FULL
    assert write_json(read(copy)) == text
    assert "unexpected" not in text


def test_a_urdf_reads_back_equal(tmp_path: Path) -> None:
    urdf = tmp_path / "r.urdf"
    inertial = (
        '<inertial><origin xyz="0.1 0.2 0.3" rpy="1 2 3"/><mass value="0.1"/>'
        '<inertia ixx="1" iyy="1.1" izz="1.2" ixy="0.1" ixz="0" iyz="-0.1"/></inertial>'
    )
    urdf.write_text(
        f'<robot name="r"><link name="a"/><link name="b">{inertial}</link><link name="c">{inertial}</link>'
        '<joint name="x" type="revolute"><parent link="a"/><child link="b"/><origin rpy="1 2 3"/>'
        '<axis xyz="1 2 3"/><limit lower="-0.1" upper="inf"/></joint>'
        '<joint name="y" type="prismatic"><parent link="b"/><child link="c"/>'
        '<mimic joint="x" multiplier="0.1" offset="3"/></joint></robot>',
        encoding="utf-8",
    )
    copy = _copy(tmp_path, write_json(read(urdf)))
    assert read(copy) == read(urdf)
    assert load(copy) == load(urdf)
    assert load(copy, snap=0.0, base="floating").digest == load(urdf, snap=0.0, base="floating").digest


def test_rotations_of_seven_digits_are_rotations(tmp_path: Path) -> None:
    data = json.loads(write_json(replace(FULL, frames=())))
    rotation = np.array(from_rpy(0.4, 0.5, 0.6))
    data["joints"][0]["placement"] = {"rotation": rotation.round(7).tolist()}
    for snap in (0.0, 1e-11):
        model = load(_copy(tmp_path, json.dumps(data)), snap=snap)
        got = next(body for body in model.bodies if body.joint.name == data["joints"][0]["name"]).placement.R
        np.testing.assert_allclose(got, rotation, atol=1e-7)
        np.testing.assert_allclose(got.T @ got, np.eye(3), atol=1e-14)


def test_roll_pitch_yaw_is_accepted(tmp_path: Path) -> None:
    data = json.loads(write_json(replace(FULL, frames=())))
    data["joints"][0]["placement"] = {"translation": [1.0, 2.0, THIRD], "rpy": [0.1, 0.2, 0.3]}
    assert read(_copy(tmp_path, json.dumps(data))).joints == FULL.joints


def test_infinite_limits_are_left_out() -> None:
    text = write_json(FULL)
    assert "Infinity" not in text
    assert "null" not in text
    with pytest.raises(ValueError, match="Out of range"):
        write_json(replace(FULL, gravity=(float("inf"), 0.0, 0.0)))
