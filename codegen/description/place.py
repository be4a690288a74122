"""Elements of a URDF file, with the words that error messages use for them, and what they state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.description.files import number, numbers, shortened, shown
from codegen.description.rotations import from_rpy, from_wxyz
from codegen.errors import RobotError
from codegen.geometry import ZERO, Pose, Vec3, vec3

if TYPE_CHECKING:
    from codegen.description.files import Element
    from codegen.geometry import Mat3


@dataclass(frozen=True, slots=True)
class Place:
    """An element of the file, with the words that error messages use for it."""

    element: Element
    words: str

    def child(self, tag: str) -> Place | None:
        """The only child element with this tag, if there is one."""
        found = self.element.findall(tag)
        if len(found) > 1:
            both = ", ".join(f"line {one.sourceline} has {_attributes(one)}" for one in found[:2])
            raise RobotError(f"{self.words} has {len(found)} <{tag}> elements; keep one: {both}")
        return Place(found[0], f"{self.words}, <{tag}>") if found else None

    def need(self, tag: str) -> Place:
        """The only child element with this tag; RobotError without it."""
        found = self.child(tag)
        if found is None:
            raise RobotError(f"{self.words} has no <{tag}> element; add one")
        return found

    def text(self, attribute: str) -> str:
        """An attribute that must be there."""
        value: str | None = self.element.get(attribute)
        if value is None:
            raise RobotError(f"{self.words} has no attribute {attribute!r}; add it")
        return value

    def number(self, attribute: str, default: float | None = None, *, infinite: bool = False) -> float:
        """A number; required where there is no default."""
        if default is not None and self.element.get(attribute) is None:
            return default
        return number(self.text(attribute), f"{self.words}, {attribute}", infinite=infinite)

    def vector(self, attribute: str, default: Vec3) -> Vec3:
        """Three numbers."""
        value = self.element.get(attribute)
        return default if value is None else vec3(numbers(value, 3, f"{self.words}, {attribute}"))


def named(element: Element, where: str) -> Place:
    """An element that must have a name, by which error messages call it."""
    name = element.get("name")
    if name is None:
        raise RobotError(f"{where}: line {element.sourceline}: <{element.tag}> has no name; give it one")
    return Place(element, f"{where}: {element.tag} {shown(name)}")


def _attributes(element: Element) -> str:
    """The attributes of an element as the file states them, in an error message."""
    stated = " ".join(f"{name}={value!r}" for name, value in element.attrib.items())
    return shortened(stated, 100) or f"<{element.tag}>"


def origin(place: Place) -> Pose:
    """The pose that the child <origin> states; the identity where there is none."""
    found = place.child("origin")
    return Pose() if found is None else Pose(_rotation(found), found.vector("xyz", ZERO))


def _rotation(found: Place) -> Mat3:
    """What `rpy` states, or in its stead the quaternion `quat_xyzw` (URDF 1.2)."""
    text = found.element.get("quat_xyzw")
    if text is None:
        return from_rpy(*found.vector("rpy", ZERO))
    if found.element.get("rpy") is not None:
        raise RobotError(f"{found.words} has both rpy and quat_xyzw; keep one")
    x, y, z, w = numbers(text, 4, f"{found.words}, quat_xyzw")
    size = math.hypot(x, y, z, w)
    if not 1e-6 < size < 1e6:
        raise RobotError(f"{found.words}, quat_xyzw: the quaternion has the length {size:g}; make it one")
    return from_wxyz((w, x, y, z))
