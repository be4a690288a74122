"""Loops that cannot be used: one sentence when the robot is read, which names the loop and the mend."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import interpreted
import numpy as np
import pytest

import codegen
from codegen.errors import RobotError
from codegen.ir.interpreter import interpret
from codegen.oracle import ORACLE
from codegen.oracle.loops import closed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INERTIA = {"mass": 1.0, "com": [0.1, 0.0, 0.0], "inertia": [0.01, 0, 0, 0.02, 0, 0.03]}


def robot(joints: dict[str, tuple[str, list[float]]], *loops: dict[str, Any]) -> dict[str, Any]:
    """Hinges about z: joint jX carries link X, at a place on its parent."""
    return {
        "format": "rigidc-robot-1",
        "name": "r",
        "gravity": [0, -9.81, 0],
        "links": [{"name": "base"}, *({"name": name, **INERTIA} for name in joints)],
        "joints": [
            {"name": f"j{n}", "type": "revolute", "parent": parent, "child": n, "placement": {"translation": at}}
            for n, (parent, at) in joints.items()
        ],
        "loops": [{"name": f"loop{n}", **loop} for n, loop in enumerate(loops)],
    }


def closure(first: str, at1: list[float], second: str, at2: list[float], **more: Any) -> dict[str, Any]:
    """Two points that stay together."""
    ends = {"predecessor": {"link": first, "translation": at1}, "successor": {"link": second, "translation": at2}}
    return {"kind": "closure", "type": "point", **ends, **more}


def gear(leader: str, follower: str, ratio: float = 2.0) -> dict[str, Any]:
    """One joint follows another."""
    return {"kind": "linear", "independent": [leader], "dependent": [follower], "matrix": [[ratio]]}


def formula(text: str) -> dict[str, Any]:
    """The angle of b from that of a."""
    return {"kind": "expression", "variables": {"x": "ja"}, "explicit": {"jb": text}, "independent": ["ja"]}


BAR = {"a": ("base", [0, 0, 0]), "b": ("a", [1, 0, 0]), "c": ("base", [1, 0.5, 0])}
PAIR = {"a": ("base", [0, 0, 0]), "b": ("base", [1, 0, 0])}
CLOSED = ("b", [1, 0, 0], "c", [0.8, 0, 0])

BAD = {
    "rigid triangle": (robot(PAIR, closure("a", [0.6, 0.1, 0], "b", [-0.5, 0, 0])), "loop0.*leaves nothing to move"),
    "rigid with an independent joint": (
        robot(PAIR, closure("a", [0.6, 0.1, 0], "b", [-0.5, 0, 0], independent=["ja"])),
        "loop0.*is rigid",
    ),
    "cannot close": (robot(PAIR, closure("a", [0.1, 0, 0], "b", [0.1, 0, 0])), "loop0.*no configuration that closes"),
    "two loops contradict": (
        robot(BAR, closure(*CLOSED), closure("b", [9, 0, 0], "c", [0, 0, 0])),
        "loop0.*loop1.*no configuration that closes",
    ),
    "too few independent": (
        robot({**BAR, "d": ("c", [0.8, 0, 0])}, closure("b", [1, 0, 0], "d", [0.5, 0, 0], independent=["ja"])),
        r"determines 2 of 4 joint motions, but 3 joints are to follow; name 2 independent joints: "
        r"in URDF\+ <joint name='ja' independent=\"true\">, and independent=\"false\" on all that follow; "
        r"in JSON \"independent\": \[\.\.\.\] of the loop$",
    ),
    "too many independent": (
        robot(BAR, closure(*CLOSED, independent=["ja", "jb"])),
        "determines 2 of 3 joint motions, but 1 joint is to follow; name 1 independent joint: in URDF",
    ),
    "wrong independent": (
        robot(
            {"a": ("base", [0, 0, 0]), "b": ("a", [1, 0, 0]), "c": ("b", [0.7, 0, 0])},
            # the point lies on the axis of c, which does not move it
            closure("c", [0, 0, 0], "base", [1.2, 0.4, 0], components=[1], independent=["ja", "jb"]),
        ),
        "does not move its dependent joints; name other independent joints",
    ),
    "gears in a circle": (robot(PAIR, gear("ja", "jb"), gear("jb", "ja")), "loop0', 'loop1' lets every joint follow"),
    "gears in a circle beside others": (
        robot(
            {**PAIR, "c": ("a", [1, 0, 0])}, gear("ja", "jb"), gear("jb", "ja"), closure("b", [0, 0, 0], "c", [0, 0, 0])
        ),
        "'ja' follows no joint that moves by itself",
    ),
    "two leaders": (
        robot({**PAIR, "c": ("base", [2, 0, 0])}, gear("ja", "jc"), gear("jb", "jc", 3.0)),
        "2 couplings must give just as many dependent joints",
    ),
    "formulas in a circle": (
        robot(
            PAIR,
            formula("sin(x)"),
            {"kind": "expression", "variables": {"x": "jb"}, "explicit": {"ja": "cos(x)"}, "independent": ["jb"]},
        ),
        "loop0', 'loop1' lets every joint follow",
    ),
    "unknown function": (robot(PAIR, formula("sinh(x)")), "loop0.*uses 'sinh', which is no variable and no function"),
    "unknown variable": (robot(PAIR, formula("x + y")), "loop0.*uses 'y', which is no variable"),
    "too deep": (robot(PAIR, formula("(" * 101 + "x" + ")" * 101)), "loop0.*nested more than 100 deep"),
    "signs too deep": (robot(PAIR, formula("-" * 200 + "x")), "loop0.*nested more than 100 deep"),
    "too long": (robot(PAIR, formula("x" + "+x" * 6000)), "loop0.*longer than 10000 characters"),
    "divides by zero": (robot(PAIR, formula("x/(2 - 2)")), "loop0.*divides by zero at place"),
    "no finite number": (robot(PAIR, formula("x*sqrt(-1)")), "loop0.*has no finite value"),
    "overflow": (robot(PAIR, formula("1e999*x")), "loop0.*has no finite value"),
    "two arguments": (robot(PAIR, formula("atan2(x)")), "loop0.*lacks a ','"),
    "code": (robot(PAIR, formula("x.__class__")), "loop0.*cannot be read from place 1"),
    "given and independent": (
        robot(PAIR, {**formula("2*x"), "independent": ["ja", "jb"]}),
        "both dependent and independent",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_one_clear_sentence(tmp_path: Path, case: str) -> None:
    data, says = BAD[case]
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(RobotError, match=says) as caught:
        codegen.load(path)
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert "\n" not in sentence


def loaded(tmp_path: Path, data: dict[str, Any]) -> codegen.Model:
    path = tmp_path / "robot.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return codegen.load(path)


def test_independent_joints_are_chosen_where_none_are_named(tmp_path: Path) -> None:
    model = loaded(tmp_path, robot(BAR, closure(*CLOSED)))
    assert model.loops[0].independent == ("ja",)
    assert (model.nq, model.nv) == (3, 1)


def test_redundant_rows_do_no_harm(build: Callable[..., Any], tmp_path: Path) -> None:
    """A planar loop held in space, and the same loop stated twice."""
    once = loaded(tmp_path, robot(BAR, closure(*CLOSED, components=[0, 1], independent=["ja"])))
    twice = loaded(tmp_path, robot(BAR, closure(*CLOSED, independent=["ja"]), closure(*CLOSED, independent=["ja"])))
    q, v, tau = once.random(1)
    np.testing.assert_allclose(build(twice, "aba")(q, v, tau), build(once, "aba")(q, v, tau), rtol=1e-9)


def test_a_loop_that_is_singular_at_neutral_starts_elsewhere(build: Callable[..., Any], tmp_path: Path) -> None:
    """A parallelogram: at zero all its links lie on one line, where its rocker may go either way."""
    links = {"a": ("base", [0, 0, 0]), "b": ("a", [0.5, 0, 0]), "c": ("base", [1, 0, 0])}
    model = loaded(tmp_path, robot(links, closure("b", [1, 0, 0], "c", [0.5, 0, 0], independent=["ja"])))
    assert np.linalg.norm(model.neutral()) > 0.1
    assert np.abs(closed(model, model.neutral()).G).max() < 100
    a = build(model, "aba")(model.neutral(), np.ones(1), np.ones(1))
    assert np.isfinite(a).all()


def test_a_chain_of_followers_needs_no_order(tmp_path: Path) -> None:
    links = {name: ("base", [n, 0, 0]) for n, name in enumerate("abcd")}
    model = loaded(tmp_path, robot(links, gear("jb", "ja"), gear("jc", "jb"), gear("jd", "jc")))
    assert model.nv == 1
    at = closed(model, [0.3]).at
    assert [float(at[model.joint_names.index(f"j{n}")][0]) for n in "abcd"] == pytest.approx([2.4, 1.2, 0.6, 0.3])


def test_a_loop_that_does_not_feel_its_slide_holds_the_others_still(tmp_path: Path) -> None:
    """Rates that vanish whatever happens: dynamics are those of the slide, and nothing fails."""
    data = robot(BAR, closure(*CLOSED, components=[0, 1], independent=["ja"]))
    data["joints"][0] |= {"type": "prismatic", "armature": 0.2}
    data["gravity"] = [0, 0, -9.81]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    model = codegen.load(path)
    for algorithm in ("rnea", "aba", "crba", "lagrange_fd"):
        graph = interpreted.graph(model, algorithm)
        inputs = model.random(1)[: len(graph.inputs)]
        found = interpret(graph, *inputs)[0]
        assert np.allclose(found, ORACLE[algorithm](model, *inputs), rtol=1e-11)
