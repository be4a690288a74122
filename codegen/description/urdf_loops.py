"""What ties joints in a URDF file: `mimic` tags, and the `<loop>` and `<coupling>` elements of URDF+."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen.description.description import SCALAR_JOINTS, DescribedJoint, DescribedLoop
from codegen.description.files import number, numbers, shown
from codegen.description.loops import canonical, joints_between
from codegen.description.rotations import from_rpy
from codegen.errors import RobotError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.description.files import Element

MOST_LOOPS = 1000


def loops(where: str, root: Element, joints: Sequence[DescribedJoint]) -> tuple[tuple[DescribedLoop, ...], list[str]]:
    """All loops of a file, and notes on the tags that were ignored."""
    mimics, notes = _mimics(where, root, {joint.name: joint for joint in joints})
    dependent = {
        element.get("name", "")
        for element in root.findall("joint")
        if element.get("independent", "true").strip().lower() == "false"
    }
    elements = list(root.iterchildren("loop", "coupling"))
    if len(elements) > MOST_LOOPS:
        raise RobotError(f"{where}: {len(elements)} loops are more than the {MOST_LOOPS} that rigidc takes")
    above = {joint.child: joint for joint in joints}
    closures = [_closed(where, element, above, dependent) for element in elements]
    return (*mimics, *closures), notes


def _mimics(where: str, root: Element, joints: Mapping[str, DescribedJoint]) -> tuple[list[DescribedLoop], list[str]]:
    stated: dict[str, tuple[str, float, float]] = {}
    on_fixed = []
    for element in root.findall("joint"):
        tag, name = element.find("mimic"), element.get("name", "")
        if tag is None:
            continue
        if joints[name].type == "fixed":
            on_fixed.append(name)
            continue
        words = f"{where}: joint {shown(name)}, <mimic>"
        stated[name] = (
            tag.get("joint", ""),
            number(tag.get("multiplier", "1"), f"{words}, multiplier"),
            number(tag.get("offset", "0"), f"{words}, offset"),
        )
    if len(stated) > MOST_LOOPS:
        raise RobotError(f"{where}: {len(stated)} mimic joints are more than the {MOST_LOOPS} that rigidc takes")
    notes = [f"Mimic tags of fixed joints are ignored: {', '.join(map(shown, on_fixed))}."] if on_fixed else []
    return [_mimic(where, name, stated, joints) for name in stated], notes


def _mimic(
    where: str,
    name: str,
    stated: Mapping[str, tuple[str, float, float]],
    joints: Mapping[str, DescribedJoint],
) -> DescribedLoop:
    """One mimic joint, followed through mimics of mimics to the joint that moves by itself."""
    words = f"{where}: joint {shown(name)}"
    leader, factor, offset = stated[name]
    seen = {name}
    while leader in stated:
        if leader in seen:
            raise RobotError(f"{words} mimics itself through {shown(leader)}; let one of them move by itself")
        seen.add(leader)
        next_leader, next_factor, next_offset = stated[leader]
        leader, factor, offset = next_leader, factor * next_factor, offset + factor * next_offset
    if leader not in joints:
        raise RobotError(f"{words} mimics the unknown joint {shown(leader)}; name a joint of this file")
    if joints[leader].type == "fixed":
        still = {"independent": [], "dependent": [name], "matrix": [[]], "offset": [offset]}
        return DescribedLoop(name, "linear", canonical(still))
    for joint in (joints[name], joints[leader]):
        if joint.type not in SCALAR_JOINTS:
            raise RobotError(
                f"{words} mimics {shown(leader)}, but {shown(joint.name)} is {joint.type}; "
                "a mimic ties two joints with one coordinate each"
            )
    data = {"independent": [leader], "dependent": [name], "matrix": [[factor]], "offset": [offset]}
    return DescribedLoop(name, "linear", canonical(data))


def _closed(where: str, element: Element, above: Mapping[str, DescribedJoint], dependent: set[str]) -> DescribedLoop:
    name = element.get("name", "")
    words = f"{where}: {element.tag} {shown(name)}"
    ends: dict[str, Any] = {side: _end(words, element, side) for side in ("predecessor", "successor")}
    tied = joints_between(above, ends["predecessor"]["link"], ends["successor"]["link"])
    data: dict[str, Any] = {"independent": [joint for joint in tied if joint not in dependent]}
    if element.tag == "coupling":
        ratio = element.find("ratio")
        value = "1" if ratio is None else ratio.get("value", "1")
        data |= {side: end["link"] for side, end in ends.items()}
        data["ratio"] = number(value, f"{words}, <ratio>")
        return DescribedLoop(name, "coupling", canonical(data))
    if element.get("type") not in ("revolute", "continuous"):
        raise RobotError(f"{words} has the type {shown(element.get('type', ''))}; only 'revolute' is known")
    axis = element.find("axis")
    data |= {"type": "hinge", "axis": [1.0, 0.0, 0.0]} | ends
    if axis is not None and axis.get("xyz") is not None:
        data["axis"] = list(numbers(axis.get("xyz", ""), 3, f"{words}, <axis>"))
    return DescribedLoop(name, "closure", canonical(data))


def _end(words: str, element: Element, side: str) -> dict[str, Any]:
    """One side of a closure, laid out as in the schema: the link and the closing frame on it."""
    end = element.find(side)
    if end is None or end.get("link") is None:
        raise RobotError(f"{words} has no <{side} link=...>; add one")
    stated: dict[str, Any] = {"link": end.get("link")}
    origin = end.find("origin")
    if origin is not None:
        place = f"{words}, <{side}>, <origin>"
        stated["translation"] = list(numbers(origin.get("xyz", "0 0 0"), 3, place))
        roll, pitch, yaw = numbers(origin.get("rpy", "0 0 0"), 3, place)
        if (roll, pitch, yaw) != (0.0, 0.0, 0.0):
            stated["rotation"] = [list(row) for row in from_rpy(roll, pitch, yaw)]
    return stated
