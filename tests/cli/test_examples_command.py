"""`rigidc examples`: the list, and copies that replace nothing by accident."""

from __future__ import annotations

from importlib.metadata import metadata
from typing import TYPE_CHECKING

import pytest

from codegen.__main__ import main
from codegen.cli.examples import EXTRAS, FOLDER, examples

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Run

TEXT = (FOLDER / "embedding.py").read_text(encoding="utf-8")


def test_the_list_has_one_line_each(rigidc: Run) -> None:
    _, *lines = rigidc("examples").splitlines()
    assert [line.split()[0] for line in lines] == list(examples())
    assert len(lines) >= 4
    assert max(map(len, lines)) <= 120


def test_one_is_printed_or_copied(rigidc: Run, tmp_path: Path) -> None:
    assert rigidc("examples", "embedding") == TEXT
    assert rigidc("examples", "embedding", "-o", tmp_path / "mine.py") == ""
    assert (tmp_path / "mine.py").read_text(encoding="utf-8") == TEXT


def test_what_a_copy_needs_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert EXTRAS.keys() <= examples().keys()
    known = metadata("rigidc").get_all("Provides-Extra")
    assert {extra for extras in EXTRAS.values() for extra in extras.split(",")} <= {*known}
    assert main(["examples", "mpc_arm", "-o", str(tmp_path / "arm.py")]) == 0
    assert "pip install 'rigidc[mpc]'" in capsys.readouterr().err


def test_a_file_is_replaced_only_by_force(rigidc: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("mine")
    assert "--force" in rigidc("examples", "embedding", "-o", path, code=2)
    assert path.read_text() == "mine"
    rigidc("examples", "embedding", "-o", path, "--force")
    assert path.read_text(encoding="utf-8") == TEXT


@pytest.mark.parametrize(
    ("argv", "named"),
    [(["flying"], "forward_dynamics"), (["-o", "mine.py"], "mine.py"), (["../cli/check"], "no example")],
)
def test_what_is_no_example_is_named(rigidc: Run, argv: list[str], named: str) -> None:
    assert named in rigidc("examples", *argv, code=2)
