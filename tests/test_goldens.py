"""The committed generated folders are what this version writes, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

import codegen

GENERATED = Path(__file__).parents[1] / "generated"
ALGORITHMS = ("rnea", "crba", "aba")


@pytest.mark.parametrize("robot", ["iiwa", "solo12"])
def test_generated_text_has_not_changed(robot: str, tmp_path: Path) -> None:
    written = codegen.generate(codegen.load(robot), ALGORITHMS, tmp_path / robot)
    committed = {path.name: path.read_bytes() for path in (GENERATED / robot).iterdir()}
    assert sorted(committed) == sorted(path.name for path in written)
    changed = [path.name for path in written if path.read_bytes() != committed[path.name]]
    assert not changed, "if that is meant, `make goldens` writes them again"
