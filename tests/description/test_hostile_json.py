"""Broken and hostile JSON: one sentence that names the place in the file."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from refusals import sentence

from codegen.description import read
from codegen.description.description import DescribedLoop
from codegen.description.loops import canonical
from codegen.errors import RobotError
from codegen.robot import Robot, load

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
FORMULA = {"name": "x", "kind": "expression", "variables": {"q": "j"}}
TWO = {
    "links": [{"name": name, "mass": 1, "inertia": [1, 0, 0, 1, 0, 1]} for name in "abc"],
    "joints": [J, J | {"name": "k", "child": "c"}],
}
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
    "deep notes": (json.dumps(json_robot(notes=json.loads("[" * 300 + "]" * 300))), "nested more than 256 deep"),
    "long value": (json.dumps(json_robot(notes=["x" * 5000, 1, "y" * 5000])), "is not of type 'string'"),
    "long key": (json.dumps(json_robot(**{"x" * 5000: 1})), "was unexpected"),
    "too many links": (json.dumps(json_robot(links=[{"name": "a"}] * 10_001)), "10001 links are more than the 10000"),
    "long formula": (
        json.dumps(json_robot(loops=[FORMULA | {"implicit": ["q + " * 700 + "x"]}])),
        r"the expression 'q \+ .*\.\.\..* x' uses 'x', which is no variable",
    ),
    "too long a formula": (
        json.dumps(json_robot(loops=[FORMULA | {"implicit": ["q" * 10_001]}])),
        "longer than 10000 characters",
    ),
    "too many formulas": (
        json.dumps(json_robot(loops=[FORMULA | {"name": f"x{i}", "implicit": ["q+" * 4000 + "q"]} for i in range(13)])),
        "formulas have more than 100000 characters",
    ),
    "constants whose product overflows": (
        json.dumps(json_robot(**TWO, loops=[FORMULA | {"explicit": {"k": "q*1e300*1e300"}}])),
        "loop 'x' gives motions that are not finite or beyond 1e.12",
    ),
    "huge ratio": (
        json.dumps(json_robot(**TWO, loops=[LINEAR | {"independent": ["k"], "matrix": [[1e200]]}])),
        "loop 'x': the number 1e.200",
    ),
    "scale of zero": (
        json.dumps(json_robot(**TWO, loops=[FORMULA | {"implicit": ["q-k"], "independent": ["j"], "scale": [0]}])),
        "loop 'x' has a scale of zero",
    ),
    "a closure's rotation": (
        json.dumps(
            json_robot(
                loops=[
                    {"name": "x", "kind": "closure", "type": "weld", "predecessor": {"link": "a"}}
                    | {"successor": {"link": "b", "rotation": [[1, 0, 0]] * 3}}
                ]
            )
        ),
        "loop 'x', successor has a rotation that is not a rotation matrix",
    ),
    "denormal armature": (json.dumps(json_robot(joints=[J | {"armature": 1e-320}])), "armature: 1e-320 is neither"),
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


def test_joints_may_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "still.json"
    path.write_text(json.dumps({"format": "rigidc-robot-1", "name": "r", "links": [{"name": "a"}]}), encoding="utf-8")
    assert (load(path).nv, load(path, base="floating").nv) == (0, 6)


def test_minus_zero_is_zero(tmp_path: Path) -> None:
    path = tmp_path / "zero.json"
    for zero in ("0.0", "-0.0"):
        joint = J | {"armature": float(zero), "limits": {"lower": float(zero), "upper": 1}}
        path.write_text(json.dumps(json_robot(joints=[joint])), encoding="utf-8")
        assert "-0.0" not in repr(load(path).bodies)


def test_loops_that_take_too_long_to_close_are_refused_before() -> None:
    chain = read("chain:120")
    ends = [{"predecessor": {"link": chain.links[0].name}, "successor": {"link": x.name}} for x in chain.links[-15:]]
    welds = [DescribedLoop(f"x{i}", "closure", canonical({"type": "weld"} | both)) for i, both in enumerate(ends)]
    with pytest.raises(RobotError, match="'x4' and 10 more closes 120 joints by 90 equations"):
        Robot.assembled(replace(chain, loops=tuple(welds)))
    chain = read("chain:401")
    first, *others = (joint.name for joint in chain.joints)
    gears = [
        DescribedLoop(name, "linear", canonical({"independent": [first], "dependent": [name], "matrix": [[1]]}))
        for name in others
    ]
    with pytest.raises(RobotError, match="ties 401 joints, more than the 400"):
        Robot.assembled(replace(chain, loops=tuple(gears)))


def test_variables_may_have_any_name(tmp_path: Path) -> None:
    """Also that of a member which holds numbers elsewhere."""
    loop = FORMULA | {"variables": {"components": "j"}, "explicit": {"k": "2*components"}}
    path = tmp_path / "robot.json"
    path.write_text(json.dumps(json_robot(**TWO, loops=[loop])), encoding="utf-8")
    assert load(path).nv == 1
