"""`make bench-mpc`: which parts run, small runs of them where their peers are, and the balance problem."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import codegen
from codegen.oracle import ORACLE
from opcount.bench import balance, balance_ours, humanoid_build, mpc
from opcount.bench.build_dir import Absent, BuildDir, compilers
from opcount.bench.pinocchio_casadi import expressions

ROOT = Path(mpc.__file__).parents[2]


def installed(*names: str) -> pytest.MarkDecorator:
    """Skip where a package is missing."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """A bench in a process of its own: JAX starts threads, beside which processes must not fork."""
    return subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=False, cwd=ROOT, timeout=600
    )


def test_parts_without_their_python_are_left_out(monkeypatch, capsys):
    monkeypatch.delenv("CROCODDYL_PYTHON", raising=False)
    monkeypatch.delenv("JAX_PYTHON", raising=False)
    assert mpc.main(["nodes", "loop", "rollouts"]) == 0
    said = capsys.readouterr().out
    assert said.count("left out: CROCODDYL_PYTHON is not set") == 2
    assert "JAX_PYTHON is not set; it names a Python with rigidc[jax] mujoco-mjx brax" in said


def test_what_cannot_run(monkeypatch, capsys, tmp_path):
    assert mpc.main(["walking"]) == 2
    said = "there is no part 'walking'; choose of functions, build, nodes, acados, loop, rollouts"
    assert said in capsys.readouterr().err
    monkeypatch.setenv("JAX_PYTHON", str(tmp_path / "python"))
    assert mpc.main(["rollouts"]) == 2
    assert "JAX_PYTHON: " in capsys.readouterr().err


@pytest.mark.thorough
@installed("scipy")
def test_what_a_humanoid_takes_to_build(monkeypatch, capsys):
    """C of the stages and of all that they call, and no functions that they do not call."""
    monkeypatch.setenv("RIGIDC_CACHE", "elsewhere")  # which is put back
    assert humanoid_build.main() == 0
    said = capsys.readouterr().out
    for part in ("MB", "each_node.c", "last_node.c", "rnea_hessian.c", "processor: ", "GB of one process"):
        assert part in said
    assert "_adjoint.c" not in said


@pytest.mark.thorough
@installed("jax")
def test_rollouts_with_the_peers_that_are_here():
    done = run("opcount.bench.jax_rollouts", "chain:2", "--steps", "3", "--batch", "2", "--seconds", "0.01")
    assert done.returncode == 0, done.stderr
    assert "chain:2  rigidc" in done.stdout or "chain_2" in done.stdout
    for label, module in (("MJX", "mujoco.mjx"), ("Brax", "brax"), ("adam", "adam")):
        root = module.partition(".")[0]
        here = importlib.util.find_spec(root) and importlib.util.find_spec(module)
        assert bool(here) != (f"without {label} (" in done.stdout)


def test_pinocchio_through_casadi_knows_what_it_has(tmp_path):
    with pytest.raises(Absent, match="rnea and aba alone are taken"):
        expressions(codegen.load("iiwa"), "crba", compilers()[0], BuildDir(tmp_path))


@installed("pinocchio")
@pytest.mark.thorough
def test_pinocchios_expressions_are_ours(tmp_path):
    """Values and Jacobians, at quaternions of any norm, too."""
    for name in ("iiwa", "solo12"):
        robot = codegen.load(name)
        rng = np.random.default_rng(0)
        for algorithm in ("rnea", "aba"):
            theirs = expressions(robot, algorithm, compilers()[-1], BuildDir(tmp_path))
            ours = codegen.to_casadi(robot, algorithm, expand=True)
            given = [rng.standard_normal(ours.numel_in(k)) for k in range(3)]
            np.testing.assert_allclose(theirs(*given).full(), ours(*given).full(), rtol=1e-9, atol=1e-9)
            found, expected = ([x.full() for x in f.jacobian()(*given, 0)] for f in (theirs, ours))
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(other).max()))


@installed("crocoddyl")
def test_a_node_beside_crocoddyls():
    done = run("opcount.bench.crocoddyl_nodes", "iiwa", "--seconds", "0.01")
    assert done.returncode == 0, done.stderr
    assert "to_crocoddyl" in done.stdout


@installed("crocoddyl", "mujoco", "piqp")
@pytest.mark.thorough
def test_all_optimisers_find_the_same():
    done = run("opcount.bench.balance_loop", "--pushes", "0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("0 of 0") == 3


@installed("mujoco", "piqp", "scipy")
@pytest.mark.thorough
def test_the_balance_problem():
    """Solutions obey forward dynamics with the feet held, by the oracle; a push is recovered from in MuJoCo."""
    controller, robot = balance_ours.Controller(), balance.robot()
    q, v = balance.rest().copy(), np.zeros(robot.nv)
    q[2] += 0.01
    v[:3] = 0.3, -0.2, 0.1
    x, u = controller.converged(0.0, q, v, 20)
    contacts = [robot.contact(foot, 3, kd=balance.DAMPING) for foot in balance.FEET]
    for k in range(0, balance.NODES, 7):
        q, v = np.split(x[k], [robot.nq])
        tau = np.append(np.zeros(6), u[k])
        a = ORACLE["pv"](robot, q, v, tau, contacts=contacts)[0]
        np.testing.assert_allclose(x[k + 1, robot.nq :], v + balance.STEP * a, atol=1e-8)
    found = balance.closed_loop(controller, 1, 0.4)
    assert (found.recovered, found.falls) == (1, 0)
    assert np.sqrt(np.mean(found.errors**2)) < 0.01


def test_an_arm_as_urdf_for_adam(tmp_path):
    peer = pytest.importorskip("opcount.bench.adam_peer", reason="adam is not installed", exc_type=ImportError)
    arm = codegen.load("iiwa")
    (tmp_path / "arm.urdf").write_text(peer.urdf(arm))
    again = codegen.load(tmp_path / "arm.urdf")
    q, v, tau = arm.random(0)
    found, expected = (codegen.build(robot, "aba")(q, v, tau) for robot in (again, arm))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
