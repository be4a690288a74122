"""The programs that come with rigidc are short and run as they are."""

from __future__ import annotations

import runpy
import sys
from typing import TYPE_CHECKING

import pytest
from thorough import besides

from codegen.cli.examples import FOLDER, examples

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("forward_dynamics", "mpc_arm")  # small robots'; the others build more
ARGUMENTS = {"mpc_arm": ("--nodes", "3", "--seconds", "0.05")}
NEEDS = {"mpc_arm": ("mujoco", "matplotlib")}
LINES = {"mpc_arm": 180}  # a plant, a controller and a picture; others are shorter than 40 lines


@pytest.mark.parametrize("name", besides(QUICK, list(examples())))
def test_it_runs(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for needed in NEEDS.get(name, ()):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)  # pictures
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(sys, "argv", [name, *ARGUMENTS.get(name, ())])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out


def test_mpc_meets_its_limits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for needed in NEEDS["mpc_arm"]:
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(sys, "argv", ["mpc_arm", *ARGUMENTS["mpc_arm"]])
    found = runpy.run_path(str(FOLDER / "mpc_arm.py"), run_name="__main__")
    ours, peers = found["runs"].values()
    assert all(run[6].all() for run in (ours, peers))  # solved
    assert (abs(ours[3]) <= found["LIMIT"]).all()
    assert abs(ours[3] - peers[3]).max() < 1e-6
    text = capsys.readouterr().out
    assert "5 solves, 0 failed" in text
    assert (tmp_path / "mpc_arm.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", examples())
def test_it_is_short(name: str) -> None:
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) < LINES.get(name, 40)
