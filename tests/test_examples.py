"""The programs that come with rigidc are short and run as they are."""

from __future__ import annotations

import runpy
import sys
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from thorough import besides

import codegen
from codegen.cli.examples import EXTRAS, FOLDER, examples
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("forward_dynamics",)  # a small robot's; the others build more
OWN = ("differential_leg", "identification", "mpc_arm", "mpc_humanoid", "mpc_jump", "mpc_quadruped", "whole_body_qp")
"""Those that have a test of their own."""
LINES = {
    "differential_leg": 220,
    "identification": 350,
    "mpc_arm": 224,
    "mpc_humanoid": 284,
    "mpc_jump": 284,
    "mpc_quadruped": 324,
    "whole_body_qp": 430,
}
"""Of those with a plant, a controller and a picture; others have less than 40 lines."""


@pytest.mark.parametrize("name", besides(QUICK, [name for name in examples() if name not in OWN]))
def test_it_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(EXTRAS))
@pytest.mark.parametrize("missing", ["matplotlib", "mujoco"])
def test_what_an_example_needs_is_said_in_one_sentence(
    name: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    monkeypatch.setitem(sys.modules, "clarabel", ModuleType("clarabel"))  # which one of them needs first
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setattr(sys, "argv", [name])
    with pytest.raises(SystemExit, match=rf"^{missing} is not installed; pip install 'rigidc\[{EXTRAS[name]}\]'$"):
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")


@pytest.mark.thorough
@pytest.mark.parametrize("solver", ["riccati", "fatrop"])
def test_mpc_of_an_arm(
    solver: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With rigidc's derivatives and with CasADi's the same torques; no solve takes long, so that none is late."""
    for name in ("mujoco", "matplotlib", "scipy"):
        pytest.importorskip(name)
    pytest.importorskip("casadi", minversion="3.8")
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr("time.process_time", map((1e-5).__mul__, count()).__next__)
    options = f"mpc_arm --nodes 3 --seconds 0.02 --solver {solver} --film= --figure {tmp_path}/arm.png"
    monkeypatch.setattr(sys, "argv", options.split())
    found = runpy.run_path(str(FOLDER / "mpc_arm.py"), run_name="__main__")
    assert capsys.readouterr().out.count("20 solves in 20 periods, 0 failed, 0 longer than 1 ms") == 3
    ours, *peers = found["runs"].values()
    assert (abs(ours[3]) <= found["LIMIT"]).all()
    assert len(peers) == 2
    for peer in peers:
        assert abs(ours[3] - peer[3]).max() < 1e-6
    assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.thorough
def test_an_arm_that_is_pushed_follows_its_targets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("mujoco", "matplotlib", "scipy"):
        pytest.importorskip(name)
    pytest.importorskip("casadi", minversion="3.8")
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr("time.process_time", map((1e-5).__mul__, count()).__next__)
    monkeypatch.setattr(sys, "argv", f"mpc_arm --film {tmp_path}/arm.gif --figure {tmp_path}/arm.png".split())
    found = runpy.run_path(str(FOLDER / "mpc_arm.py"), run_name="__main__")
    assert capsys.readouterr().out.count("4000 solves in 4000 periods, 0 failed") == 3
    for t, q, goal, tau, _, _, solved in found["runs"].values():
        assert solved.all()
        assert (abs(tau) <= found["LIMIT"]).all()
        assert (abs(tau) > 0.999 * found["LIMIT"]).any()
        error = abs(q - goal).max(axis=1)
        assert error[(t > 1.1) & (t < found["JUMP"])].max() < 1e-3
        assert error[t > 3.5].max() < 0.02


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options",
    [
        "--robot go1",
        "--robot go1 --nodes 20 --step 0.025 --rate 200",
        "--robot go1 --nodes 20 --step 0.025 --rate 200 --solver piqp",
        "--robot solo12",
    ],
)
def test_a_quadruped_that_is_pushed_walks_on(
    options: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("mujoco", "matplotlib", "piqp", "scipy"):
        pytest.importorskip(name)
    pytest.importorskip("casadi", minversion="3.8")
    monkeypatch.setenv("MPLBACKEND", "agg")
    common = f"--pushes 2 --push 0.5 --figure {tmp_path}/walk.png --film"
    monkeypatch.setattr(sys, "argv", ["mpc_quadruped", *options.split(), *common.split(), ""])
    found = runpy.run_path(str(FOLDER / "mpc_quadruped.py"), run_name="__main__")
    (_, q, v, _, speed, held, touching), solves, pushes, falls = found["found"]
    assert all(solve.solved for solve in solves)
    assert (len(pushes), falls) == (2, [])
    assert abs(v[-100:, 0] - speed[-100:]).mean() < 0.15
    assert q[-1, 0] > 1.0
    assert (held == touching).mean() > 0.8
    assert "2 of 2" in capsys.readouterr().out
    assert (tmp_path / "walk.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.thorough
def test_a_humanoid_that_is_pushed_stands_and_walks_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("mujoco", "matplotlib", "scipy"):
        pytest.importorskip(name)
    pytest.importorskip("casadi", minversion="3.8")
    monkeypatch.setenv("MPLBACKEND", "agg")
    options = f"mpc_humanoid --standing 1 --walking 2 --impulse 15 --while-walking 10 --figure {tmp_path}/h.png --film"
    monkeypatch.setattr(sys, "argv", [*options.split(), ""])
    found = runpy.run_path(str(FOLDER / "mpc_humanoid.py"), run_name="__main__")
    (t, q, *_, hand), solves, pushes, falls = found["found"]
    assert all(solve.solved for solve in solves)
    assert (len(pushes), len(falls)) == (3, 0)
    assert 0.5 < q[-1, 0] < 2.0
    assert np.sqrt(np.mean(hand[t < found["WALK"]] ** 2)) < 0.03
    assert "1 of 1" in capsys.readouterr().out
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.thorough
def test_a_humanoid_with_rotors_and_belts_jumps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its feet leave the ground as scheduled, motors keep their limits, and rotors turn as their gears say."""
    for name in ("mujoco", "matplotlib", "scipy"):
        pytest.importorskip(name)
    pytest.importorskip("casadi", minversion="3.8")
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(sys, "argv", ["mpc_jump", "--jumps", "4", "--figure", f"{tmp_path}/jump.png", "--film", ""])
    found = runpy.run_path(str(FOLDER / "mpc_jump.py"), run_name="__main__")
    (_, _, _, held, touching, torques, _, slack), solves, pushes, falls = found["found"]
    assert all(solve.solved for solve in solves)
    assert (len(pushes), falls) == (2, [])
    assert (held == touching.any(axis=1)).mean() > 0.9
    assert (abs(torques) <= found["MOTOR"]).all()
    assert slack.max() < 0.05
    assert "4 of 4" in capsys.readouterr().out
    assert (tmp_path / "jump.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.thorough
def test_a_leg_with_differentials(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Torques of the exact plan are those of the oracle's projected dynamics, and bring the toe to its place."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("casadi", minversion="3.8")
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(
        sys, "argv", f"differential_leg --nodes 15 --film {tmp_path}/leg.gif --figure {tmp_path}/leg.png".split()
    )
    found = runpy.run_path(str(FOLDER / "differential_leg.py"), run_name="__main__")
    rows = {line[:16].strip(): line.split() for line in capsys.readouterr().out.splitlines()}
    exact, reflected, none = (float(rows[name][-2]) for name in ("exact", "rotors reflected", "no rotors"))
    assert exact < 0.5 < reflected < none
    missed = {name: float(rows[f"- {name}"][-2]) for name in ("exact", "no rotors")}  # by MuJoCo's leg, with feedback
    assert missed["exact"] < missed["no rotors"] < 20.0
    leg, (x, a, tau, *_) = found["leg"], found["plans"]["exact"]
    for state, acceleration, torque in zip(x[:-1:5], a[::5], tau[::5], strict=True):
        q, v = found["middle"](found["integrate"], state, acceleration)
        assert np.abs(ORACLE["rnea"](leg, q, v, acceleration) - torque).max() < 1e-6
    assert (tmp_path / "leg.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.thorough
def test_identification(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With little noise the identified arm has MuJoCo's inertia matrix; with much of it, its bodies are possible."""
    pytest.importorskip("clarabel")
    mujoco = pytest.importorskip("mujoco")
    from mujoco_peer import inertia_matrix

    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    for noise in (0.01, 5.0):
        options = f"--steps 20 --periods 1 --noise {noise} --figure {tmp_path}/arm.png --film {tmp_path}/arm.gif"
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
        assert (tmp_path / "arm.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.thorough
@pytest.mark.parametrize("solver", ["proxqp", "piqp"])
def test_whole_body_control(
    solver: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It recovers from pushes, and its QP is that of the oracle's equations of motion."""
    for name in ("mujoco", "matplotlib", {"proxqp": "proxsuite"}.get(solver, solver)):
        pytest.importorskip(name)
    monkeypatch.setenv("MPLBACKEND", "agg")
    options = f"--solver {solver} --pushes 2 --impulse 15 --figure {tmp_path}/a.png --film {tmp_path}/a.gif"
    monkeypatch.setattr(sys, "argv", ["whole_body_qp", *options.split()])
    found = runpy.run_path(str(FOLDER / "whole_body_qp.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert "failed solves 0; periods with a torque at its limit 0" in out
    assert "recovered from 2 of 2 pushes" in out
    assert "falls 0" in out
    _, centre, middle, _, hand, target, *_ = found["rows"]
    assert np.abs(centre - middle)[:, :2].max() < 0.05
    assert np.linalg.norm(hand - target, axis=1).max() < 0.03
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF")
    equations_of_motion_are_the_oracles(found)


def equations_of_motion_are_the_oracles(found: dict[str, Any]) -> None:
    """At a random state: rows of the base, of soles that stay, and of torques."""
    robot, rng = found["robot"], np.random.default_rng(1)
    (q, v, _), x = robot.random(rng), rng.standard_normal(robot.nv + 12)
    quantities = found["measured"](q, v)
    _, _, A, b, C, low, _ = found["problem"](q, v, quantities, np.zeros((3, 3)))
    a, wrenches = x[: robot.nv], found["UNIT"] * x[robot.nv :].reshape(2, 6)
    axes = quantities[2].rotation[:2]
    own = np.stack([np.append(R.T @ w[:3], R.T @ w[3:]) for R, w in zip(axes, wrenches, strict=True)])
    tau = ORACLE["rnea"](robot, q, v, a, own, external=found["FRAMES"][:2])
    assert np.abs(A[:6] @ x - b[:6] - tau[:6]).max() < 1e-9 * np.abs(tau).max()
    torques = C[: robot.nv - 6] @ x - found["LIMIT"] - low[: robot.nv - 6]
    assert np.abs(torques - tau[6:]).max() < 1e-9 * np.abs(tau).max()
    accelerations = ORACLE["frame_accelerations"](robot, q, v, a, frames=found["FRAMES"][:2]).ravel()
    damped = accelerations + 20.0 * quantities[2].velocity[:2].ravel()
    assert np.abs(A[6:] @ x - b[6:] - damped).max() < 1e-9 * np.abs(accelerations).max()


@pytest.mark.parametrize("name", examples())
def test_it_is_short(name: str) -> None:
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) < LINES.get(name, 40)
