"""The programs that come with rigidc are short and run as they are."""

from __future__ import annotations

import runpy
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from thorough import besides

import codegen
from codegen.cli.examples import FOLDER, examples

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("forward_dynamics",)  # a small robot's; the others build more
OWN = ("identification", "mpc_arm")  # that have a test of their own
LINES = {"identification": 310, "mpc_arm": 190}  # a plant, and pictures; others are shorter than 40 lines


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
def test_identification(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With little noise the identified arm has MuJoCo's inertia matrix; with much of it, its bodies are possible."""
    pytest.importorskip("clarabel")
    mujoco = pytest.importorskip("mujoco")
    from mujoco_peer import inertia_matrix

    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    for noise in (0.01, 5.0):
        options = f"--steps 20 --periods 1 --noise {noise} --figure {tmp_path}/arm.png"
        monkeypatch.setattr(sys, "argv", ["identification", *options.split()])
        found = runpy.run_path(str(FOLDER / "identification.py"), run_name="__main__")
        assert "7 of 7" in capsys.readouterr().out.split("consistent  ")[1]
        nominal, best = (np.abs(found["predicted"][name] - found["tau"]).mean() for name in ("nominal", "consistent"))
        assert best < (0.01 if noise < 1.0 else 0.2) * nominal
        assert found["better"] < 0.3 * found["error"]
        q = found["fresh"][0]
        data = mujoco.MjData(found["plant"])
        data.qpos[:] = q
        mujoco.mj_forward(found["plant"], data)
        M = codegen.build(found["identified"], "crba")(q)
        difference = np.abs(M - inertia_matrix(found["plant"], data)).max() / np.abs(M).max()
        assert difference < (0.01 if noise < 1.0 else 0.2)
        assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", examples())
def test_it_is_short(name: str) -> None:
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) < LINES.get(name, 40)
