"""Locked joints of every kind of loop, independent or dependent, against the whole robot's dense equations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import loop_mechanisms
import numpy as np
import pytest
from held_still import held, positions
from mechanisms_cases import error
from thorough import besides

import codegen
from codegen.description import write_json
from codegen.description.clusters import clustered
from codegen.description.describing import described
from codegen.description.description import DescribedLoop
from codegen.description.loops import canonical, resolved
from codegen.errors import RobotError
from codegen.ir.interpreter import interpret
from codegen.kinematic_loops.independent_joints import completed
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from pathlib import Path

    from codegen.model import Model


def made(*modules: str, seed: int = 0) -> Model:
    """A fixed base with a joint, the modules of these names, and another joint on some body of each; gravity askew."""
    builder = loop_mechanisms.Builder(seed)
    builder.body("base")
    for module in modules:
        getattr(loop_mechanisms, module)(builder)
        builder.body(builder.links[-1].name)
    model = builder.model("_".join(modules), "fixed", "pinocchio")
    rng = np.random.default_rng(seed)
    bodies = (replace(b, joint=replace(b.joint, armature=float(rng.uniform(0.05, 0.5)))) for b in model.bodies)
    return replace(model, bodies=tuple(bodies), gravity=(1.0, -2.0, -9.0))


def check(whole: Model, left: Model, at: dict[str, np.ndarray], seed: int = 0) -> None:
    """The robot with locked joints moves as the whole one does while these stand still."""
    q, v, a = left.random(seed)
    still = {name: at[name] for name in whole.joint_names if name not in left.joint_names}
    found, names = held(whole, left, still, q, v, a), tuple(frame.name for frame in whole.frames)
    assert {frame.name for frame in left.frames} == set(names)
    assert found.gap < 1e-9
    assert left.nv == found.freedoms
    assert error(ORACLE["rnea"](left, q, v, a), found.tau) < 1e-9
    assert error(ORACLE["crba"](left, q), found.M) < 1e-9
    assert error(ORACLE["fk"](left, q, v, frames=names), found.frames(names)) < 1e-9


EXPLICIT = ("gear", "belt", "mimics", "coupling", "expression")
KINDS = [*EXPLICIT, "four_bar", "point", "formula", pytest.param("spatial", marks=pytest.mark.thorough)]
TWO_FREEDOMS = {"spatial": 3}
REFUSED = {  # by module and place of its joint: what cannot be locked by itself, and why
    ("expression", 2): "follows .*lock these joints instead",
    ("belt", 3): "follows .*lock these joints instead",
    ("spatial", 2): "is rigid: it leaves nothing to move|leaves nothing to move; lock all",
    **{("four_bar", n): "leaves nothing to move; lock all of its joints where they close it" for n in range(3)},
}


@pytest.mark.parametrize("module", KINDS)
def test_any_joint_of_a_loop(module: str) -> None:
    """Alone, at a position where the whole robot is closed; the joints that follow stop where the loop puts them."""
    whole = made(module, seed=TWO_FREEDOMS.get(module, 0))
    at = positions(whole, whole.random(3)[0])
    for n, joint in enumerate(whole.loops[0].joints if module != "mimics" else ("j1", "j2", "j3")):
        if (module, n) in REFUSED:
            with pytest.raises(RobotError, match=REFUSED[module, n]) as refusal:
                whole.lock({joint: at[joint]})
            assert repr(whole.loops[0].name) in str(refusal.value)
        else:
            check(whole, whole.lock({joint: at[joint]}), at)


@pytest.mark.parametrize("module", KINDS)
def test_all_joints_of_a_loop_where_they_close_it(module: str) -> None:
    whole = made(module)
    at, joints = positions(whole, whole.random(5)[0]), [name for loop in whole.loops for name in loop.joints]
    left = whole.lock({joint: at[joint] for joint in joints})
    assert left.loops == ()
    check(whole, left, at)
    for q in (None, whole.random(6)[0]):
        assert whole.lock(joints, q).joint_names == left.joint_names
    off = {joint: at[joint] + (0.1 if joint == joints[-1] else 0.0) for joint in joints if len(at[joint]) == 1}
    if len(off) == len(joints):
        with pytest.raises(RobotError, match=f"{whole.loops[0].name}|{whole.loops[-1].name}"):
            whole.lock(off)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_any_joints_of_random_mechanisms(seed: int) -> None:
    convention, base = ("pinocchio", "mujoco")[seed % 2], ("fixed", "floating")[seed // 2 % 2]
    whole = loop_mechanisms.mechanism(seed, 4, base=base, convention=convention)  # type: ignore[arg-type]
    rng, at, locked = np.random.default_rng(seed), positions(whole, whole.random(seed)[0]), 0
    for size in (1, 1, 1, 2, 2, 3, 4):
        joints = rng.choice(whole.joint_names, size, replace=False)
        try:
            left = whole.lock({joint: at[joint] for joint in joints})
        except RobotError:
            continue
        check(whole, left, at)
        locked += 1
    assert locked >= 2


def test_two_rotors_of_a_differential_lock_what_they_drive_together() -> None:
    """Each follows both links, and the two follow one another's equations: nothing is left to move."""
    robot = codegen.load("chain:5")
    first, second, left, right, _ = robot.joint_names
    geared = robot.with_loop("sum", explicit={left: f"{first} + {second} + 0.1"})
    geared = geared.with_loop("rest", explicit={right: f"{first} - {second}"})
    for joint in (left, right):
        with pytest.raises(RobotError, match=r"follows .* so it cannot be locked by itself; lock these joints instead"):
            geared.lock({joint: 0.3})
    both = {"independent": [first, second], "dependent": [left, right], "matrix": [[1, 1], [1, -1]]}
    linear = _linear(robot, both).lock({left: 0.5, right: 0.1})
    assert linear.joint_names == (robot.joint_names[4],)
    assert f"{first!r} at 0.3; {second!r} at 0.2" in linear.notes[-1]


def _linear(robot: Model, data: dict[str, object]) -> Model:
    """The robot with a linear loop more, which Python does not state."""
    joints = {body.joint.name: body.joint for body in robot.bodies}
    loop = resolved(robot.name, DescribedLoop("both", "linear", canonical(data)), joints, {})
    return completed(clustered(replace(robot, loops=(*robot.loops, loop))))


def test_velocities_keep_their_scale_where_independent_joints_are_chosen_anew() -> None:
    whole = made("formula")
    x, y, z = whole.loops[0].joints
    assert whole.loops[0].independent == (x, y)
    at = positions(whole, whole.random(1)[0])
    for joint in (x, y, z):
        left = whole.lock({joint: at[joint]})
        (loop,) = left.loops
        (own,) = loop.independent
        assert (own in (x, y), loop.stated["scale"]) == (True, [{x: 3.0, y: -0.5}[own]])
        check(whole, left, at)


@pytest.mark.parametrize("formula", ["0.3", "0.15*2", 0.3, "0*link0_joint + 0.3"])
def test_a_constant_formula_locks_its_joint(formula: object) -> None:
    chain = codegen.load("chain:3,alternate")
    stated, locked = chain.with_loop("l", explicit={"link1_joint": formula}), chain.lock({"link1_joint": 0.3})
    assert (stated.joint_names, stated.loops) == (("link0_joint", "link2_joint"), ())
    assert "Joints that a loop holds still are fixed: 'link1_joint'." in stated.notes
    assert stated.digest == locked.digest
    q, v, tau = locked.random(0)
    found = interpret(codegen.graphs(stated, "aba")[1], q, v, tau)[0]
    M = ORACLE["crba"](chain, [q[0], 0.3, q[1]])[np.ix_([0, 2], [0, 2])]
    bias = ORACLE["rnea"](chain, [q[0], 0.3, q[1]], [v[0], 0, v[1]], np.zeros(3))[[0, 2]]
    np.testing.assert_allclose(found, np.linalg.solve(M, tau - bias), rtol=1e-10)


@pytest.mark.parametrize(
    "modules",
    besides(
        [["expression", "formula", "mimics"]], [["belt", "coupling", "four_bar"], ["expression", "formula", "mimics"]]
    ),
)
def test_robots_with_loops_and_locked_joints_survive_a_file(tmp_path: Path, modules: list[str]) -> None:
    whole, path = made(*modules, seed=4), tmp_path / "left.json"
    own = [name for loop in whole.loops if loop.kind != "closure" for name in loop.independent[:1]]
    at = positions(whole, whole.random(1)[0])
    left = whole.lock({name: at[name] for name in own[:2]})
    for model in (whole, left, left.subtree("base")):
        path.write_text(write_json(described(model)), encoding="utf-8")
        again, (q, v, a) = codegen.load(path), model.random(2)
        names = tuple(frame.name for frame in model.frames)
        assert (again.joint_names, again.notes) == (model.joint_names, model.notes)
        assert [loop.independent for loop in again.loops] == [loop.independent for loop in model.loops]
        assert error(ORACLE["rnea"](again, q, v, a), ORACLE["rnea"](model, q, v, a)) < 1e-9
        assert error(ORACLE["fk"](again, q, v, frames=names), ORACLE["fk"](model, q, v, frames=names)) < 1e-9


def test_all_but_some_joints_of_robots_with_loops() -> None:
    bar = codegen.load("four_bar")
    crank, *others = bar.loops[0].joints
    assert bar.lock_all_but(crank) is bar
    with pytest.raises(RobotError, match=f"joint '{others[0]}' follows '{crank}' .*keep these joints too"):
        bar.lock_all_but(others[0])
    assert (bar.lock_all_but().nv, bar.lock_all_but(q=bar.random(0)[0]).loops) == (0, ())
    leg = codegen.load("mini_cheetah")
    name = leg.loops[0].independent[0]
    assert set(leg.lock_all_but(name).joint_names) == set(leg.loops[0].joints)


def test_subtrees_keep_loops_inside_and_refuse_those_that_reach_out() -> None:
    bar = codegen.load("four_bar")
    with pytest.raises(RobotError, match=r"loop 'cluster-0' ties joint 'link2'.*to 'link1', which is not"):
        bar.subtree("link1")
    whole = made("gear", "four_bar", "coupling", seed=2)
    part = whole.subtree("base")
    q, v, a = whole.random(0)
    assert part.loops == whole.loops
    assert error(ORACLE["rnea"](part, q, v, a), ORACLE["rnea"](whole, q, v, a)) < 1e-12
