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

QUICK = ("forward_dynamics",)  # a small robot's; the others build more
OWN = ("mpc_arm", "mpc_quadruped")  # that have a test of their own
LINES = {"mpc_arm": 190, "mpc_quadruped": 500}  # a plant, a controller and a picture; others have less than 40 lines


@pytest.mark.parametrize("name", besides(QUICK, [name for name in examples() if name not in OWN]))
def test_it_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out


def test_mpc_of_an_arm(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("matplotlib")
    pytest.importorskip("casadi", minversion="3.8")
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(sys, "argv", f"mpc_arm --nodes 3 --seconds 0.05 --figure {tmp_path}/arm.png".split())
    found = runpy.run_path(str(FOLDER / "mpc_arm.py"), run_name="__main__")
    ours, peers = found["runs"].values()
    assert "5 solves, 0 failed" in capsys.readouterr().out
    assert (abs(ours[3]) <= found["LIMIT"]).all()
    assert abs(ours[3] - peers[3]).max() < 1e-6
    assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.thorough
@pytest.mark.parametrize("robot", ["go1", "solo12"])
def test_a_quadruped_that_is_pushed_walks_on(
    robot: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("mujoco", "matplotlib", "piqp", "scipy"):
        pytest.importorskip(name)
    pytest.importorskip("casadi", minversion="3.8")
    monkeypatch.setenv("MPLBACKEND", "agg")
    options = f"mpc_quadruped --robot {robot} --pushes 2 --push 0.5 --figure {tmp_path}/walk.png --film"
    monkeypatch.setattr(sys, "argv", [*options.split(), ""])
    found = runpy.run_path(str(FOLDER / "mpc_quadruped.py"), run_name="__main__")
    (_, q, v, _, speed, held, touching), (*_, solved, _), pushes, falls = found["found"]
    assert solved.all()
    assert (len(pushes), falls) == (2, [])
    assert abs(v[-100:, 0] - speed[-100:]).mean() < 0.15
    assert q[-1, 0] > 1.0
    assert (held == touching).mean() > 0.8
    assert "2 of 2" in capsys.readouterr().out
    assert (tmp_path / "walk.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", examples())
def test_it_is_short(name: str) -> None:
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) < LINES.get(name, 40)
