"""rigidc generate."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Run


def test_generate_writes_a_folder_once_and_the_same_again_with_force(rigidc: Run, tmp_path: Path) -> None:
    out = tmp_path / "iiwa"
    argv = ["generate", "iiwa", "-a", "rnea", "-a", "crba", "-o", out]
    listed = rigidc(*argv).splitlines()
    first = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert sorted(listed) == sorted(map(str, first))
    assert {path.suffix for path in first} >= {".c", ".h", ".txt"}
    assert "--force" in rigidc(*argv, code=2)
    rigidc(*argv, "--force")
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == first


def test_generate_refuses_before_it_writes(rigidc: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "no_frame" in rigidc("generate", "iiwa", "-a", "fk", "--frame", "no_frame", "-o", out, code=2)
    assert not out.exists()
    (tmp_path / "file").write_text("kept")
    rigidc("generate", "iiwa", "-a", "rnea", "-o", tmp_path / "file", code=2)
    assert (tmp_path / "file").read_text() == "kept"
