"""What xacro would have to expand in a URDF file: left as it is, it reads as a smaller robot or as odd names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from codegen.description.files import XACRO, shown
from codegen.errors import RobotError

if TYPE_CHECKING:
    from codegen.description.files import Element

_READ = (".", "link", "link/inertial//*", "joint", "joint//*", "loop", "loop//*", "coupling", "coupling//*")
"""Paths of the elements that are looked at."""


def refuse(root: Element, where: str) -> None:
    """RobotError on the first xacro element, or else the first substitution; a namespace alone does no harm."""
    for element in root.iter("*"):
        if element.prefix == "xacro" or "xacro" in (etree.QName(element).namespace or ""):
            tag = f"<{element.prefix or 'xacro'}:{etree.QName(element).localname}>"
            raise RobotError(f"{where}: line {element.sourceline}: {tag} is a macro of xacro; {XACRO}")
    for element in (found for path in _READ for found in root.iterfind(path)):
        for value in element.attrib.values():
            if "${" in value or "$(" in value:
                words = f"{where}: line {element.sourceline}: <{element.tag}>"
                raise RobotError(f"{words} has {shown(value)}, a substitution of xacro; {XACRO}")
