"""Parametric mechanisms: their shape, their names, and that they are the same everywhere."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from codegen.description import mechanisms
from codegen.errors import RobotError
from codegen.oracle.loops import closed
from codegen.robot import Robot, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.description import Description
    from codegen.model import Model


def made(describe: Callable[..., Description], *given: Any, **named: Any) -> Robot:
    """The robot of a mechanism."""
    return Robot.assembled(describe(*given, **named))


def _depths(model: Model) -> list[int]:
    depths: list[int] = []
    for body in model.bodies:
        depths.append(1 if body.parent < 0 else depths[body.parent] + 1)
    return depths


def test_chain() -> None:
    model = made(mechanisms.describe_chain, 20)
    assert [body.parent for body in model.bodies] == list(range(-1, 19))
    assert {body.joint.axis for body in model.bodies} == {(0.0, 0.0, 1.0)}
    assert model.frame("tip").body == 19
    axes = [body.joint.axis for body in made(mechanisms.describe_chain, 4, "alternate").bodies]
    assert axes == [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0)] * 2


def test_geared_and_belt_chains() -> None:
    geared, belt = made(mechanisms.describe_geared_chain, 3, "alternate"), made(mechanisms.describe_belt_chain, 5)
    assert (geared.nv, [len(node.bodies) for node in geared.nodes]) == (3, [2, 2, 2])
    assert (belt.nv, [len(node.bodies) for node in belt.nodes]) == (5, [4, 4, 2])
    assert geared.frame("tip").body == belt.frame("tip").body - 4
    carrier = {body.name: geared.bodies[body.parent].name if body.parent >= 0 else "base" for body in geared.bodies}
    assert carrier["link2"] == carrier["link2_rotor"] == "link1"
    at = closed(belt, [0.1, 0.2, 0.3, 0.4, 0.5]).at
    angles = {body.name: float(at[b][0]) for b, body in enumerate(belt.bodies)}
    # GEAR = 6, BELT = 1/2: both rotors of a pair hang on the carrier of its first link
    assert angles["link0_rotor"] == pytest.approx(0.6)
    assert angles["link3_rotor"] == pytest.approx(6 * (0.15 + 0.4))
    assert angles["link4_rotor"] == pytest.approx(3.0)
    assert belt.bodies[belt.joint_names.index("link3_rotor_joint")].parent == belt.frame("link1").body


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_binary_tree(depth: int) -> None:
    model = made(mechanisms.describe_binary_tree, depth)
    assert model.nv == 3 * (2**depth - 1)
    assert len(model.tips) == 2 ** (depth - 1)
    assert max(_depths(model)) == 3 * depth
    children = Counter(body.parent for body in model.bodies)
    assert sum(count == 2 for count in children.values()) == 2 ** (depth - 1) - 1
    assert max(children.values()) <= 2
    leaves = {model.frame(frame.name).body for frame in model.frames if frame.name.startswith("tip")}
    assert {model.bodies[body].name for body in leaves} == set(model.tips)


def test_stem() -> None:
    model = made(mechanisms.describe_stem, 50, 4, 10)
    assert model.floating
    assert len(model.bodies) == 50 + 2 * 4 * 10
    assert len(model.tips) == 8
    depths = _depths(model)
    assert Counter(depths[model.frame(f"tip{i}").body] for i in range(8)) == {11: 4, 60: 4}
    assert made(mechanisms.describe_stem, 1, 1).tips == ("near0_6", "far0_6")


@pytest.mark.parametrize("floating", [False, True])
def test_random_tree_has_every_joint_off_its_axes(floating: bool) -> None:
    model = made(mechanisms.describe_random_tree, 3, 15, floating=floating)
    types = [body.joint.type for body in model.bodies[floating:]]
    assert Counter(types) == dict.fromkeys(mechanisms.JOINT_TYPES, 3)
    for body in model.bodies[floating:]:
        if body.joint.type in ("revolute", "prismatic"):
            assert min(map(abs, body.joint.axis)) > 0.05
        assert np.abs(body.placement.R).min() > 0.0
        assert np.abs(body.inertia.moment).min() > 0.0
        assert np.linalg.eigvalsh(body.inertia.moment)[0] > 0.0
    if floating:
        assert (model.bodies[0].joint.type, model.bodies[0].parent) == ("floating", -1)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("chain:5", made(mechanisms.describe_chain, 5)),
        ("chain:5,alternate", made(mechanisms.describe_chain, 5, "alternate")),
        ("chain:5,z,7", made(mechanisms.describe_chain, 5, "z", 7)),
        ("binary_tree:3", made(mechanisms.describe_binary_tree, 3)),
        ("binary_tree:3,2,1", made(mechanisms.describe_binary_tree, 3, 2, 1)),
        ("stem:6,2", made(mechanisms.describe_stem, 6, 2)),
        ("stem:6,2,3", made(mechanisms.describe_stem, 6, 2, 3)),
        ("random_tree:4,9", made(mechanisms.describe_random_tree, 4, 9)),
    ],
)
def test_names(name: str, made: Model) -> None:
    assert load(name) == made
    assert load(name).digest == made.digest


def test_seeds_differ_and_bases_can_be_exchanged() -> None:
    assert made(mechanisms.describe_chain, 3).bodies != made(mechanisms.describe_chain, 3, seed=1).bodies
    assert load("chain:3", base="floating").nv == 9
    assert load("stem:3,1,1", base="fixed").nv == 4


@pytest.mark.parametrize(
    "name",
    ["chain", "chain:", "chain:x", "chain:-1", "chain:0", "chain:5,y", "chain:1,z,1,1", "random_tree:1"],
)
def test_bad_chains_get_one_sentence(name: str) -> None:
    _refused(name)


@pytest.mark.parametrize(
    "name",
    [
        "stem:4",
        "binary_tree:40",
        "stem:900,100",
        "random_tree:1",
        "chain:1e2",
        "chain:٣",
        "chain:" + "9" * 5000,
    ],
)
def test_bad_names_get_one_sentence(name: str) -> None:
    _refused(name)


def _refused(name: str) -> None:
    with pytest.raises(RobotError) as caught:
        load(name)
    assert "\n" not in str(caught.value)


def test_unknown_names_suggest_near_ones() -> None:
    with pytest.raises(RobotError, match="did you mean talos"):
        load("taloss")
    with pytest.raises(RobotError, match=r"the robots are .*atlas, "):
        load("zzzzzzz")
