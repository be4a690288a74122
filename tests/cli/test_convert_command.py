"""rigidc convert."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import ARM

import codegen

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Run

FLOATING = """<joint name="free" type="floating"><parent link="world"/><child link="base"/>
  <origin xyz="1 2 3"/></joint>"""
FREE = {
    ".urdf": ARM.replace('<link name="base"/>', f'<link name="world"/><link name="base"/>{FLOATING}').replace(
        "<axis", '<origin xyz="0 0 0.5"/><axis'
    ),
    ".xml": """<mujoco model="arm"><worldbody><body name="base" pos="1 2 3" euler="0 0 90">
      <joint name="free" type="free" armature="0.1"/><geom size="0.1"/>
      <body name="upper" pos="0 0 0.5"><joint name="shoulder" axis="0 1 0"/><geom size="0.1" pos="0 0 0.2"/></body>
    </body></worldbody></mujoco>""",
}


def test_convert_writes_a_file_that_reads_back_as_the_same_robot(rigidc: Run, arm: Path) -> None:
    out = arm.with_name("arm.json")
    assert rigidc("convert", arm, "-o", out) == ""
    before, after = codegen.load(str(arm)), codegen.load(str(out))
    assert (after.name, after.bodies, after.frames) == (before.name, before.bodies, before.frames)
    assert rigidc("convert", arm) == out.read_text()
    assert rigidc("convert", "iiwa").startswith("{")


def test_convert_can_free_the_base(rigidc: Run, arm: Path) -> None:
    out = arm.with_name("free.json")
    rigidc("convert", arm, "--floating", "-o", out)
    assert codegen.load(str(out)).floating
    assert not codegen.load(str(arm)).floating


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_convert_can_weld_what_floats(rigidc: Run, tmp_path: Path, suffix: str) -> None:
    """The floating joint itself becomes a fixed one: the JSON loads as `--fixed` shows the file."""
    file, out, whole = tmp_path / f"free{suffix}", tmp_path / "fixed.json", tmp_path / "free.json"
    file.write_text(FREE[suffix])
    rigidc("convert", file, "--fixed", "-o", out)
    rigidc("convert", file, "-o", whole)
    welded = codegen.load(file, base="fixed")
    assert codegen.load(out) == codegen.load(out, base="fixed") == codegen.load(whole, base="fixed") == welded
    assert codegen.load(whole) == codegen.load(file)
    assert (welded.joint_names, welded.floating, codegen.load(file).floating) == (("shoulder",), False, True)
    assert welded.bodies[0].placement.translation == (1.0, 2.0, 3.5)
    assert rigidc("info", out) == rigidc("info", file, "--fixed")


def test_a_failed_conversion_leaves_nothing_behind(rigidc: Run, arm: Path) -> None:
    arm.write_text(ARM.replace('value="2"', 'value="-2"'))
    out = arm.with_name("arm.json")
    assert "upper" in rigidc("convert", arm, "-o", out, code=2)
    assert [path.name for path in arm.parent.iterdir()] == ["arm.urdf"]
    arm.write_text(ARM)
    assert "no such folder" in rigidc("convert", arm, "-o", arm.parent / "missing" / "arm.json", code=2)
    rigidc("convert", arm, "-o", arm.parent, code=2)
    assert [path.name for path in arm.parent.iterdir()] == ["arm.urdf"]
