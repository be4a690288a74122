"""Loops: mimic chains, URDF+ closures and couplings, and which bodies they gather into one node."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from codegen.description.clusters import between, nodes
from codegen.robot import load

if TYPE_CHECKING:
    from pathlib import Path

    from codegen.model import Model

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def _load(tmp_path: Path, joints: dict[str, tuple[str, str]], rest: str = "", order: str = "file") -> Model:
    """A robot of one joint per child link: child -> (parent, tags inside the joint)."""
    links = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in ("base", *joints))
    stated = "".join(
        f'<joint name="j{child}" type="{"fixed" if "weld" in child else "continuous"}" '
        f'independent="{"false" if "dep" in inner else "true"}"><parent link="{parent}"/>'
        f'<child link="{child}"/>{inner}</joint>'
        for child, (parent, inner) in joints.items()
    )
    path = tmp_path / "r.urdf"
    path.write_text(f'<robot name="r">{links}{stated}{rest}</robot>', encoding="utf-8")
    return load(path, order=order)


def _bodies(model: Model) -> list[list[str]]:
    return [[model.bodies[i].name for i in node.bodies] for node in model.nodes]


def test_mimic_of_a_mimic_follows_the_joint_that_moves_by_itself(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        {
            "a": ("base", '<mimic joint="jb" multiplier="2" offset="0.5"/>'),
            "b": ("base", '<mimic joint="jc" multiplier="-3" offset="0.25"/>'),
            "c": ("base", ""),
        },
    )
    data = {loop.name: json.loads(loop.data) for loop in model.loops}
    # q_a = 2 (-3 q_c + 0.25) + 0.5
    assert data["ja"] == {"dependent": ["ja"], "independent": ["jc"], "matrix": [[-6.0]], "offset": [1.0]}
    assert data["jb"]["matrix"] == [[-3.0]]
    assert [loop.independent for loop in model.loops] == [("jc",), ("jc",)]
    assert _bodies(model) == [["a", "b", "c"]]


def test_a_mimic_gathers_what_lies_between(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        {
            "trunk": ("base", ""),
            "l1": ("trunk", ""),
            "l2": ("l1", ""),
            "weld1": ("l2", ""),
            "l3": ("weld1", '<mimic joint="jr2"/>'),
            "tip": ("l3", ""),
            "free": ("trunk", ""),
            "r1": ("trunk", ""),
            "r2": ("r1", ""),
        },
    )
    assert _bodies(model) == [["trunk"], ["l1", "l2", "l3", "r1", "r2"], ["tip"], ["free"]]
    assert [node.parent for node in model.nodes] == [-1, 0, 1, 0]
    assert [node.loops for node in model.nodes] == [(), (0,), (), ()]


def test_a_joint_and_the_next_one_share_a_node(tmp_path: Path) -> None:
    model = _load(tmp_path, {"a": ("base", ""), "b": ("a", '<mimic joint="ja"/>'), "c": ("b", "")})
    assert _bodies(model) == [["a", "b"], ["c"]]


def test_overlapping_loops_share_a_node(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        {
            "t": ("base", ""),
            "a": ("t", '<mimic joint="jb"/>'),
            "b": ("t", ""),
            "c": ("t", ""),
            "b2": ("b", '<mimic joint="jc"/>'),
            "d": ("base", ""),
        },
    )
    assert _bodies(model) == [["t"], ["a", "b", "c", "b2"], ["d"]]


def test_closure_and_coupling_of_urdf_plus(tmp_path: Path) -> None:
    rest = (
        '<loop name="close" type="revolute"><predecessor link="a2"><origin xyz="1 0 0"/></predecessor>'
        '<successor link="b1"><origin xyz="0.5 0 0" rpy="0 0 0"/></successor><axis xyz="0 0 1"/></loop>'
        '<coupling name="gear"><predecessor link="c"/><successor link="rotor_dep"/>'
        '<ratio value="6"/></coupling>'
    )
    model = _load(
        tmp_path,
        {
            "a1": ("base", '<axis xyz="0 0 1"/>'),
            "a2": ("a1", '<axis xyz="0 0 1"/><origin xyz="1 0 0"/><!-- dep -->'),
            "b1": ("base", '<axis xyz="0 0 1"/><origin xyz="1.5 0.5 0"/><!-- dep -->'),
            "c": ("base", ""),
            "rotor_dep": ("base", "<!-- dep -->"),
        },
        rest,
    )
    close, gear = model.loops
    assert (close.kind, close.joints, close.independent) == ("closure", ("ja1", "ja2", "jb1"), ("ja1",))
    assert json.loads(close.data) == {
        "type": "hinge",
        "axis": [0.0, 0.0, 1.0],
        "predecessor": {"link": "a2", "translation": [1.0, 0.0, 0.0]},
        "successor": {"link": "b1", "translation": [0.5, 0.0, 0.0]},
        "independent": ["ja1"],
    }
    assert (gear.kind, gear.joints, gear.independent) == ("coupling", ("jc", "jrotor_dep"), ("jc",))
    assert json.loads(gear.data)["ratio"] == 6.0
    assert _bodies(model) == [["a1", "a2", "b1"], ["c", "rotor_dep"]]


def test_mimic_of_a_fixed_joint_stands_at_its_offset(tmp_path: Path) -> None:
    model = _load(
        tmp_path, {"weld": ("base", ""), "a": ("base", '<mimic joint="jweld" offset="0.5"/>'), "b": ("a", "")}
    )
    assert model.loops == ()
    assert model.joint_names == ("jb",)
    # the default axis of URDF is x
    c, s = math.cos(0.5), math.sin(0.5)
    np.testing.assert_allclose(model.bodies[0].placement.R, [[1, 0, 0], [0, c, -s], [0, s, c]], atol=1e-15)
    assert any("'ja'" in note for note in model.notes)


def test_mimic_on_a_fixed_joint_is_noted(tmp_path: Path) -> None:
    model = _load(tmp_path, {"a": ("base", ""), "weld": ("a", '<mimic joint="ja"/>')})
    assert model.loops == ()
    assert any("'jweld'" in note for note in model.notes)


@pytest.mark.parametrize(
    ("tied", "found"),
    [([1], {1}), ([2, 4], {1, 2, 4}), ([2], {2}), ([2, 3], {2, 3}), ([5, 2], {0, 1, 2, 5}), ([0], {0})],
)
def test_between(tied: list[int], found: set[int]) -> None:
    # 0 <- 1 <- (2, 3); 0 <- 4; 5 on the world
    assert between([-1, 0, 1, 1, 0, -1], tied) == found


def test_nodes_without_loops_are_the_bodies() -> None:
    order, made = nodes([-1, 0, 1, 0, -1], [], [4, 3, 2, 1, 0])
    assert order == [0, 1, 2, 3, 4]
    assert [node.parent for node in made] == [-1, 0, 1, 0, -1]
