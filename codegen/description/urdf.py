"""URDF (and URDF+: `independent`, `<loop>`, `<coupling>`) to a Description.

Meshes, visuals, collisions, transmissions and simulator tags are never looked at. A `mimic` becomes a linear
loop; a `continuous` joint is a revolute one without limits; the type `spherical` is accepted as an extension.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.description import xacro
from codegen.description.description import SCALAR_JOINTS, DescribedJoint, Description, Link
from codegen.description.files import label, parse_xml, shown
from codegen.description.place import named, origin
from codegen.description.urdf_loops import loops
from codegen.errors import RobotError
from codegen.geometry import Inertia, Pose, mat3

if TYPE_CHECKING:
    from pathlib import Path

    from codegen.description.files import Element
    from codegen.description.place import Place

_TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "floating",
    "planar": "planar",
    "spherical": "spherical",
}


def read(text: str, path: Path) -> Description:
    """The description in the text of a URDF file; RobotError in one sentence if it cannot be used."""
    where = label(path)
    root = parse_xml(text, where)
    if root.tag != "robot":
        raise RobotError(f"{where}: the root element is <{root.tag}>, not <robot>; this is not a URDF file")
    xacro.refuse(root, where)
    links = tuple(_link(named(element, where)) for element in root.findall("link"))
    places = [named(element, where) for element in root.findall("joint")]
    joints = tuple(_joint(place) for place in places)
    ties, loop_notes = loops(where, root, joints)
    return Description(
        name=root.get("name") or path.stem,
        links=links,
        joints=joints,
        loops=ties,
        notes=(*_notes(root, places), *loop_notes),
        where=where,
    )


def _link(place: Place) -> Link:
    inertial = place.child("inertial")
    name = place.text("name")
    if inertial is None:
        return Link(name)
    mass = inertial.need("mass").number("value")
    tensor = inertial.child("inertia")
    if tensor is None:
        moment = mat3([0.0] * 9)
    else:
        xx, xy, xz, yy, yz, zz = (
            tensor.number(k, 0.0 if k in ("ixy", "ixz", "iyz") else None)
            for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        moment = mat3([xx, xy, xz, xy, yy, yz, xz, yz, zz])
    about_com = Inertia(mass, (0.0, 0.0, 0.0), moment)
    pose = origin(inertial)
    if pose.rotation == Pose().rotation:
        return Link(name, Inertia(mass, pose.translation, moment))
    return Link(name, about_com.moved(pose))


def _joint(place: Place) -> DescribedJoint:
    kind = place.text("type")
    if kind not in _TYPES:
        raise RobotError(f"{place.words} has the unknown type {shown(kind)}; use one of {', '.join(_TYPES)}")
    axis = place.child("axis")
    limit = place.child("limit") if _TYPES[kind] in SCALAR_JOINTS else None
    joint = DescribedJoint(
        name=place.text("name"),
        type=_TYPES[kind],
        parent=place.need("parent").text("link"),
        child=place.need("child").text("link"),
        placement=origin(place),
        axis=(1.0, 0.0, 0.0) if axis is None else axis.vector("xyz", (1.0, 0.0, 0.0)),
    )
    return joint if limit is None else _limited(joint, limit, bounded=kind != "continuous")


def _limited(joint: DescribedJoint, limit: Place, *, bounded: bool) -> DescribedJoint:
    """Limits may be infinite; `lower` or `upper` is zero, as the format says, if only the other is there."""
    given = limit.element.get("lower") is not None or limit.element.get("upper") is not None
    end = 0.0 if given else math.inf
    lower, upper = limit.number("lower", -end, infinite=True), limit.number("upper", end, infinite=True)
    return replace(
        joint,
        lower=lower + 0.0 if bounded else -math.inf,
        upper=upper + 0.0 if bounded else math.inf,
        velocity=limit.number("velocity", math.inf, infinite=True),
        effort=limit.number("effort", math.inf, infinite=True),
    )


def _notes(root: Element, places: list[Place]) -> list[str]:
    notes = []
    free = [p.text("name") for p in places if p.text("type") == "revolute" and p.element.find("limit") is None]
    if free:
        notes.append(f"Revolute joints without limits: {', '.join(map(shown, free[:5]))}{', ...' * (len(free) > 5)}.")
    if any(_rubs(dynamics) for dynamics in root.iterfind("joint/dynamics")):
        notes.append("Joint damping and friction are not part of the model.")
    return notes


def _rubs(dynamics: Element) -> bool:
    return any(dynamics.get(key, "0").strip(" 0.") for key in ("damping", "friction"))
