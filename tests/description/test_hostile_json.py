"""Broken and hostile JSON: one sentence that names the place in the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from refusals import sentence

from codegen.description import load
from codegen.errors import RobotError

if TYPE_CHECKING:
    from pathlib import Path


def json_robot(**changes: object) -> dict[str, object]:
    base: dict[str, object] = {
        "format": "rigidc-robot-1",
        "name": "r",
        "links": [{"name": "a"}, {"name": "b", "mass": 1, "inertia": [1, 0, 0, 1, 0, 1]}],
        "joints": [{"name": "j", "type": "revolute", "parent": "a", "child": "b"}],
    }
    return base | changes


J = {"name": "j", "type": "revolute", "parent": "a", "child": "b"}
LINEAR = {"name": "x", "kind": "linear", "independent": [], "dependent": ["j"], "matrix": [[]]}
BAD_JSON = {
    "empty": ("", "malformed"),
    "list": ("[]", "not of type 'object'"),
    "truncated": (json.dumps(json_robot())[:-5], "malformed"),
    "deep": ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    "twice": ('{"name": "a", "name": "b"}', "the key 'name' stands twice"),
    "nan": ('{"gravity": [NaN, 0, 0]}', "NaN is not a finite"),
    "huge": ('{"gravity": [1e999, 0, 0]}', "not a finite"),
    "huge whole number": (f'{{"gravity": [{"9" * 5000}, 0, 0]}}', "not a finite"),
    "no format": (json.dumps({"name": "r", "links": [{"name": "a"}]}), "'format' is a required"),
    "extra key": (json.dumps(json_robot(mesh="x")), "'mesh' was unexpected"),
    "links a string": (json.dumps(json_robot(links="a")), r"\$.links"),
    "mass a string": (json.dumps(json_robot(links=[{"name": "a", "mass": "1"}])), r"\$.links\[0\].mass"),
    "mass true": (json.dumps(json_robot(links=[{"name": "a", "mass": True}])), r"\$.links\[0\].mass"),
    "negative mass": (json.dumps(json_robot(links=[{"name": "a", "mass": -1}])), r"\$.links\[0\].mass"),
    "two rotations": (
        json.dumps(json_robot(joints=[J | {"placement": {"rpy": [0, 0, 0], "rotation": [[1, 0, 0]] * 3}}])),
        r"\$.joints\[0\].placement",
    ),
    "no rotation": (
        json.dumps(json_robot(joints=[J | {"placement": {"rotation": [[1, 0, 0]] * 3}}])),
        "orthonormal",
    ),
    "a reflection": (
        json.dumps(json_robot(joints=[J | {"placement": {"rotation": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}}])),
        "orthonormal",
    ),
    "home of a hinge": (
        json.dumps(json_robot(joints=[J | {"home": {"translation": [1, 0, 0]}}])),
        "joint 'j' has a home, which only floating joints have; remove it",
    ),
    "home without a rotation": (
        json.dumps(json_robot(joints=[J | {"type": "floating", "home": {"rotation": [[1, 0, 0]] * 3}}])),
        "joint 'j', home has a rotation that is not",
    ),
    "surrogate": (json.dumps(json_robot(name="\ud800")), "unprintable"),
    "huge mass": (json.dumps(json_robot(links=[{"name": "a", "mass": 1e300}], joints=[])), "beyond"),
    "frame taken": (json.dumps(json_robot(frames=[{"name": "b", "link": "a"}])), "frame name 'b' is taken"),
    "frames alike": (
        json.dumps(json_robot(frames=[{"name": "f", "link": "a"}, {"name": "f", "link": "b"}])),
        "frame name 'f' is taken",
    ),
    "frame nowhere": (json.dumps(json_robot(frames=[{"name": "f", "link": "z"}])), "unknown link 'z'"),
    "loop kind": (json.dumps(json_robot(loops=[{"name": "x", "kind": "magic"}])), r"\$.loops\[0\]"),
    "loop shape": (json.dumps(json_robot(loops=[LINEAR | {"matrix": [[1]]}])), "1 rows of 0 numbers"),
    "loop offset": (json.dumps(json_robot(loops=[LINEAR | {"offset": []}])), "offset must have 1"),
    "loop joint": (json.dumps(json_robot(loops=[LINEAR | {"dependent": ["z"]}])), "unknown joint 'z'"),
    "loop twice": (
        json.dumps(json_robot(loops=[LINEAR | {"independent": ["j"], "matrix": [[1]]}])),
        "both dependent and independent",
    ),
    "code in a loop": (
        json.dumps(
            json_robot(
                loops=[
                    {
                        "name": "x",
                        "kind": "expression",
                        "variables": {"q": "j"},
                        "implicit": ["__import__('os').system('true')"],
                    }
                ]
            )
        ),
        "which is no variable",
    ),
    "quotes in a loop": (
        json.dumps(
            json_robot(loops=[{"name": "x", "kind": "expression", "variables": {"q": "j"}, "implicit": ["q + 'a'"]}])
        ),
        "cannot be read from place 3",
    ),
    "empty expression": (
        json.dumps(json_robot(loops=[{"name": "x", "kind": "expression", "variables": {"q": "j"}, "implicit": [" "]}])),
        "cannot be read from place 0",
    ),
}


@pytest.mark.parametrize("case", BAD_JSON)
def test_bad_json_gets_one_sentence(tmp_path: Path, case: str) -> None:
    text, says = BAD_JSON[case]
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RobotError, match=says):
        load(path)
    sentence(path)


def test_the_unbroken_json_loads(tmp_path: Path) -> None:
    path = tmp_path / "good.json"
    path.write_text(json.dumps(json_robot()), encoding="utf-8")
    assert load(path).nv == 1
    path.write_text(json.dumps(json_robot(loops=[LINEAR])), encoding="utf-8")
    still = load(path)
    assert (still.nv, still.loops) == (0, ())
    assert "Joints that a loop holds still are fixed: 'j'." in still.notes
