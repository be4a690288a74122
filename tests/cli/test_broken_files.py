"""Broken and hostile robot files: one sentence that names the file, and names that stay text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_line import ARM

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Run


BROKEN = {
    "empty": "",
    "truncated": ARM[: len(ARM) // 2],
    "entity bomb": '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + ARM.replace("arm", "&b;", 1),
    "external entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + ARM.replace("arm", "&x;", 1),
    "not a robot": "<html><body/></html>",
    "no links": '<robot name="r"/>',
    "nan": ARM.replace('value="2"', 'value="nan"'),
    "words": ARM.replace('xyz="0 1 0"', 'xyz="up and away"'),
    "zero axis": ARM.replace('xyz="0 1 0"', 'xyz="0 0 0"'),
    "orphan": ARM.replace('<parent link="base"/>', '<parent link="ghost"/>'),
    "self-parent": ARM.replace('<parent link="base"/>', '<parent link="upper"/>'),
    "duplicate": ARM.replace("</robot>", '<link name="upper"/></robot>'),
    "unknown joint": ARM.replace('type="revolute"', 'type="helical"'),
    "escape in a name": ARM.replace('link="base"', 'link="&#10;ghost&#133;"'),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_one_sentence_that_names_it(rigidc: Run, arm: Path, what: str) -> None:
    arm.write_text(BROKEN[what])
    sentence = rigidc("info", arm, code=2)
    assert "arm.urdf" in sentence
    assert "root:" not in sentence
    assert sentence.strip().isprintable()


def test_a_binary_file_and_a_folder_are_refused(rigidc: Run, tmp_path: Path) -> None:
    path = tmp_path / "noise.urdf"
    path.write_bytes(bytes(range(256)) * 8)
    assert "noise.urdf" in rigidc("info", path, code=2)
    path.unlink()
    path.mkdir()
    assert "noise.urdf" in rigidc("info", path, code=2)


def test_hostile_names_stay_text(rigidc: Run, arm: Path) -> None:
    name = "a*/ &quot;;\\ %s {0} {{x}} é☃"
    arm.write_text(ARM.replace('name="shoulder"', f'name="{name}"'), encoding="utf-8")
    assert 'a*/ ";\\ %s {0} {{x}} é☃' in rigidc("info", arm)
    assert json.loads(rigidc("info", arm, "--json"))["bodies"][0]["joint"] == 'a*/ ";\\ %s {0} {{x}} é☃'
    rigidc("generate", arm, "-a", "rnea", "-o", arm.parent / "out")
    assert all('*/ "' not in path.read_text() for path in (arm.parent / "out").iterdir())


@pytest.mark.parametrize("character", ["&#10;", "&#x85;", "&#x202e;"])
def test_names_cannot_drive_the_terminal(rigidc: Run, arm: Path, character: str) -> None:
    arm.write_text(ARM.replace('name="shoulder"', f'name="a{character}b"'))
    sentence = rigidc("info", arm, code=2)
    assert "arm.urdf" in sentence
    assert sentence[:-1].isprintable()
