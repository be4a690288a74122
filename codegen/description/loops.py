"""Loops of a description: what they tie, checked against the tree. Nothing in them is ever run as code.

The layout of a loop's data is that of `robot.schema.json`; the kinds are
  linear      q_dependent = matrix q_independent + offset (mimic, gears, belts)
  coupling    ratio * (sum of q from the common ancestor to predecessor) = (the same to successor)
  closure     two frames, one on each of two links, stay together in some of their components
  expression  `explicit`: dependent joints as texts, or `implicit`: texts that stay zero
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.description.description import SCALAR_JOINTS
from codegen.description.files import shown
from codegen.description.rotations import check_rotation
from codegen.errors import RobotError
from codegen.limits import LARGEST, MOST_FORMULAS, SMALLEST
from codegen.model import Loop

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from codegen.description.description import DescribedJoint, DescribedLoop, Description
    from codegen.model import Joint

    Above: TypeAlias = Mapping[str, DescribedJoint | None]
    Typed: TypeAlias = DescribedJoint | Joint


def canonical(data: Mapping[str, Any]) -> str:
    """The one JSON text of a loop's data: sorted keys, no spaces, ASCII, floats but for indices."""
    indices = {"components": [int(k) for k in data["components"]]} if "components" in data else {}
    return json.dumps({**_floats(data), **indices}, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_floats(item) for item in value]
    return float(value) + 0.0 if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def joints_between(above: Above, predecessor: str, successor: str) -> list[str]:
    """The moving joints on the two paths from the common ancestor, predecessor's path first, root to tip.

    `above` names the joint above each link, None for the root.
    """
    paths = [_path(above, predecessor), _path(above, successor)]
    shared = {joint.name for joint in paths[0]} & {joint.name for joint in paths[1]}
    return [
        joint.name for path in paths for joint in reversed(path) if joint.name not in shared and joint.type != "fixed"
    ]


def _path(above: Above, link: str) -> list[DescribedJoint]:
    """The joints from a link up to the root; ends where a broken file would go round in circles."""
    path: list[DescribedJoint] = []
    seen: set[str] = set()
    while link not in seen and (joint := above.get(link)) is not None:
        seen.add(link)
        path.append(joint)
        link = joint.parent
    return path


def resolve(description: Description) -> tuple[Loop, ...]:
    """The loops of a checked tree as the model states them; RobotError names the loop that does not fit."""
    joints = {joint.name: joint for joint in description.joints}
    above: Above = {link.name: None for link in description.links}
    above = {**above, **{joint.child: joint for joint in description.joints}}
    where = description.where or description.name
    formulas = sum(len(loop.data) for loop in description.loops if loop.kind == "expression")
    if formulas > MOST_FORMULAS:
        raise RobotError(f"{where}: its formulas have more than {MOST_FORMULAS} characters; shorten them")
    return tuple(resolved(where, loop, joints, above) for loop in description.loops)


def resolved(where: str, loop: DescribedLoop, joints: Mapping[str, Typed], above: Above) -> Loop:
    """A loop as the model states it, its joints checked; `above` is asked for closures and couplings only."""
    words = f"{where}: loop {shown(loop.name)}"
    data = json.loads(loop.data)
    _check_numbers(words, data)
    independent = tuple(data.get("independent", ()))
    if loop.kind == "linear":
        dependent = tuple(data["dependent"])
        _check_linear(words, data)
        tied = (*independent, *dependent)
    elif loop.kind == "expression":
        _check_expression(words, data)
        tied = tuple(dict.fromkeys((*data["variables"].values(), *independent, *data.get("explicit", {}))))
    else:
        tied = _tied_by_ends(words, loop.kind, data, above)
    unknown = [name for name in (*tied, *independent) if name not in joints]
    if unknown:
        raise RobotError(f"{words} names the unknown joint {shown(unknown[0])}; name joints of this file")
    if set(independent) - set(tied):
        extra = min(set(independent) - set(tied))
        raise RobotError(f"{words} calls {shown(extra)} independent, which it does not tie; leave it out")
    if loop.kind != "closure":
        _check_scalar(words, {name: joints[name].type for name in tied})
    if len(set(tied)) < len(tied) or set(independent) & set(data.get("explicit", ())):
        raise RobotError(f"{words} names a joint as both dependent and independent, or twice; name it once")
    if "explicit" in data:
        independent = (*independent, *(name for name in tied if name not in (*independent, *data["explicit"])))
    return Loop(loop.name, loop.kind, tied, independent, loop.data)


def _check_numbers(words: str, data: Mapping[str, Any]) -> None:
    """RobotError on numbers beyond bounds, a rotation that is none, a hinge without an axis, a factor of zero."""
    for value in _numbers(data):
        if not abs(value) <= LARGEST:
            raise RobotError(f"{words}: the number {value!r} is not finite or beyond {LARGEST:g}; correct it")
    for side in ("predecessor", "successor"):
        if isinstance(data.get(side), dict) and "rotation" in data[side]:
            check_rotation(f"{words}, {side}", np.array(data[side]["rotation"]))
    if "axis" in data and not any(abs(x) > 1e-9 for x in data["axis"]):
        raise RobotError(f"{words} has a zero axis; state the direction of the hinge")
    if not all(abs(x) >= SMALLEST for x in data.get("scale", ())):
        raise RobotError(f"{words} has a scale of zero; state the ratio of the two coordinates")


def _numbers(data: Any) -> list[float]:
    """All numbers in the data of a loop."""
    if isinstance(data, float | int):
        return [data]
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [value for part in inner for value in _numbers(part)]


def _check_scalar(words: str, types: Mapping[str, str]) -> None:
    for name, kind in types.items():
        if kind not in SCALAR_JOINTS:
            raise RobotError(
                f"{words} ties joint {shown(name)}, which is {kind}; only joints of one coordinate can be tied so"
            )


def _check_linear(words: str, data: Mapping[str, Any]) -> None:
    rows, columns = len(data["dependent"]), len(data["independent"])
    if len(data["matrix"]) != rows or any(len(row) != columns for row in data["matrix"]):
        raise RobotError(f"{words}: the matrix must have {rows} rows of {columns} numbers")
    if len(data.get("offset", [0.0] * rows)) != rows:
        raise RobotError(f"{words}: the offset must have {rows} numbers")


def _check_expression(words: str, data: Mapping[str, Any]) -> None:
    if ("explicit" in data) == ("implicit" in data):
        raise RobotError(f"{words} needs either 'explicit' or 'implicit'; state one of them")
    if len(data.get("scale", data.get("independent", ()))) != len(data.get("independent", ())):
        raise RobotError(f"{words}: 'scale' must have one number for each independent joint")
    from casadi import SX  # slow to import, and few robots have expressions

    from codegen.expressions.parsing import parse

    symbols = {name: SX.sym(name) for name in data["variables"]}
    try:
        for text in (*data.get("explicit", {}).values(), *data.get("implicit", ())):
            parse(text, symbols)
    except RobotError as error:
        raise RobotError(f"{words}: {error}") from None


def _tied_by_ends(words: str, kind: str, data: Mapping[str, Any], above: Above) -> tuple[str, ...]:
    ends = [data[side] if kind == "coupling" else data[side]["link"] for side in ("predecessor", "successor")]
    for link in ends:
        if link not in above:
            raise RobotError(f"{words} names the unknown link {shown(link)}; name a link of this file")
    tied = tuple(joints_between(above, ends[0], ends[1]))
    if not tied:
        raise RobotError(f"{words} ties two links that do not move against each other; remove it")
    return tied
