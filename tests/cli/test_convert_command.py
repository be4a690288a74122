"""rigidc convert."""

from __future__ import annotations

from typing import TYPE_CHECKING

from command_line import ARM

import codegen

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Run


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


def test_a_failed_conversion_leaves_nothing_behind(rigidc: Run, arm: Path) -> None:
    arm.write_text(ARM.replace('value="2"', 'value="-2"'))
    out = arm.with_name("arm.json")
    assert "upper" in rigidc("convert", arm, "-o", out, code=2)
    assert [path.name for path in arm.parent.iterdir()] == ["arm.urdf"]
    arm.write_text(ARM)
    assert "no such folder" in rigidc("convert", arm, "-o", arm.parent / "missing" / "arm.json", code=2)
    rigidc("convert", arm, "-o", arm.parent, code=2)
    assert [path.name for path in arm.parent.iterdir()] == ["arm.urdf"]
