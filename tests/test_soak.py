"""The soak finds what is wrong, cuts it down, writes it, and runs it again; a few of its seeds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from loops.loop_mechanisms import Builder, four_bar
from soak.__main__ import main
from soak.cases import Case, Run, case, run_of
from soak.energy import balance
from soak.shrinking import shrunk, trouble_of
from soak.verdict import judged
from soak.working import written

from codegen.oracle import ORACLE, loops
from codegen.recursions.tree import Tree
from codegen.robot import Robot

if TYPE_CHECKING:
    from pathlib import Path


def linkage() -> Case:
    """A linkage with rotors, one link that carries nothing, and two runs."""
    made = Builder(3, armature=1.0)
    four_bar(made)
    made.body("b0")
    runs = (Run("crba", 1, 1), Run("aba", 1, 1, external=("b2",), parameters=("gravity",)))
    return Case(3, made.description("linkage", "fixed"), "mujoco", runs)


@pytest.mark.parametrize("seed", [3, 8])
def test_seeds_are_the_same_again_and_right(seed: int) -> None:
    once = case(seed)
    assert case(seed) == once
    assert tuple(map(run_of, once.stated()["runs"])) == once.runs
    assert not trouble_of(once)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(100, 140))
def test_more_seeds(seed: int) -> None:
    assert not trouble_of(case(seed))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(4))
def test_compiled_seeds(seed: int) -> None:
    assert not trouble_of(case(seed, compiled=True))


def test_a_fault_is_found_cut_down_written_and_found_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the force of rotors whose ratios change."""
    whole = linkage()
    assert not trouble_of(whole)
    with monkeypatch.context() as faulty:
        faulty.setattr(Tree, "armature_forces", lambda tree, v, a: tuple(0 * part for part in tree.split(a)))
        trouble = trouble_of(whole)
        assert trouble.startswith("aba: state 0: a is")
        least = shrunk(whole, trouble, 120.0)
        assert [run.algorithm for run in least.runs] == ["aba"]
        assert (least.runs[0].parameters, least.runs[0].external, least.convention) == ((), (), "pinocchio")
        assert (len(least.description.joints), len(least.description.loops)) == (3, 1)
        path = written(least, trouble, tmp_path, False)
        faulty.setattr("sys.argv", ["soak", "--replay", str(path)])
        assert main() == 1
        assert "aba: state 0" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["soak", "--replay", str(path)])
    assert main() == 0


def test_energy_alone_tells_a_dropped_rotor_and_a_loop_that_opens() -> None:
    model = linkage().model
    light = replace(model, bodies=tuple(replace(b, joint=replace(b.joint, armature=0.0)) for b in model.bodies))
    q, v, tau = model.random(1)
    robot = loops.closed(model, q)
    right, wrong = (balance(robot, v, ORACLE["aba"](robots, q, v, tau)) for robots in (model, light))
    assert abs(right.gained - tau @ v) < 1e-9 * right.size
    assert abs(wrong.gained - tau @ v) > 1e-3 * wrong.size
    assert right.opening < 1e-7
    still = replace(robot, tied=tuple(replace(tie) for tie in robot.tied), K=robot.K, fold=0.0 * robot.fold)
    assert balance(still, v, tau).opening > 1e-3


def test_what_is_refused_is_no_fault() -> None:
    drawn = linkage()
    outcome = judged(Robot.assembled(drawn.description), Run("approximate_aba", 1, 1))
    assert (outcome.trouble, outcome.tally["refused"]) == ("", 1)
