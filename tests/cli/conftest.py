"""Every command in-process, with its exit code and its one-sentence errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import ARM

from codegen.__main__ import main

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import Run


@pytest.fixture
def rigidc(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs one command line, asserts its exit code, returns what it printed (its sentence if it refused)."""

    def run(*argv: object, code: int = 0) -> str:
        capsys.readouterr()
        try:
            found = main([str(arg) for arg in argv])
        except SystemExit as leaving:
            found = int(leaving.code or 0)
        out, err = capsys.readouterr()
        assert found == code, out + err
        if code == 2:
            assert out == ""
            assert err.startswith("rigidc: ")
            assert err.count("\n") == 1, err
            assert err.endswith("\n")
            return err
        assert err == ""
        return out

    return run


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """A URDF file with one joint."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path
