"""What ties joints in a URDF file: `mimic` tags, and the `<loop>` and `<coupling>` elements of URDF+."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codegen.description.description import SCALAR_JOINTS, DescribedJoint, DescribedLoop
from codegen.description.files import shown
from codegen.description.loops import canonical, joints_between
from codegen.description.place import Place, origin
from codegen.errors import RobotError
from codegen.geometry import Pose
from codegen.limits import MOST_LOOPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codegen.description.files import Element

AXIS = (1.0, 0.0, 0.0)  # where none is stated, as of a joint


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
        name = element.get("name", "")
        tag = Place(element, f"{where}: joint {shown(name)}").child("mimic")
        if tag is None:
            continue
        if joints[name].type == "fixed":
            on_fixed.append(name)
            continue
        stated[name] = (tag.element.get("joint", ""), tag.number("multiplier", 1.0), tag.number("offset", 0.0))
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
    seen = {name: None}
    while leader in stated:
        if leader in seen:
            raise RobotError(_circle(where, leader, tuple(seen)))
        seen[leader] = None
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


def _circle(where: str, leader: str, seen: Sequence[str]) -> str:
    """What is wrong where mimics, followed one after the other (`seen`), lead back to one of them."""
    others = seen[seen.index(leader) + 1 :]
    how = f" through {shown(others[0])}; remove one <mimic>" if others else "; remove its <mimic>"
    return f"{where}: joint {shown(leader)} mimics itself{how}"


def _closed(where: str, element: Element, above: Mapping[str, DescribedJoint], dependent: set[str]) -> DescribedLoop:
    name = element.get("name", "")
    place = Place(element, f"{where}: {element.tag} {shown(name)}")
    ends: dict[str, Any] = {side: _end(place, side) for side in ("predecessor", "successor")}
    tied = joints_between(above, ends["predecessor"]["link"], ends["successor"]["link"])
    data: dict[str, Any] = {"independent": [joint for joint in tied if joint not in dependent]}
    if element.tag == "coupling":
        ratio = place.child("ratio")
        data |= {side: end["link"] for side, end in ends.items()}
        data["ratio"] = 1.0 if ratio is None else ratio.number("value", 1.0)
        return DescribedLoop(name, "coupling", canonical(data))
    if element.get("type") not in ("revolute", "continuous"):
        raise RobotError(f"{place.words} has the type {shown(element.get('type', ''))}; only 'revolute' is known")
    axis = place.child("axis")
    along = AXIS if axis is None else axis.vector("xyz", AXIS)
    data |= {"type": "hinge", "axis": list(along)} | ends
    return DescribedLoop(name, "closure", canonical(data))


def _end(place: Place, side: str) -> dict[str, Any]:
    """One side of a closure, laid out as in the schema: the link and the closing frame on it."""
    end = place.child(side)
    if end is None or end.element.get("link") is None:
        raise RobotError(f"{place.words} has no <{side} link=...>; add one")
    stated: dict[str, Any] = {"link": end.element.get("link")}
    pose = origin(end)
    if end.child("origin") is not None:
        stated["translation"] = list(pose.translation)
    if pose.rotation != Pose().rotation:
        stated["rotation"] = [list(row) for row in pose.rotation]
    return stated
