"""Robot descriptions: URDF, MJCF and rigidc's own JSON, read into frozen models.

`read` reads a file, `assemble` makes a model of what it says, `write_json` writes what `read` has read, and `bundled`
lists the robots that come with the package.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.description import json_format, mechanisms, urdf
from codegen.description.assemble import assemble
from codegen.description.description import Base, Description
from codegen.description.files import label, parse_xml, read_text, shown
from codegen.description.json_format import write_json
from codegen.description.merge import Order
from codegen.description.snap import SNAP
from codegen.errors import RobotError

if TYPE_CHECKING:
    import os

__all__ = ["SNAP", "Base", "Description", "Order", "assemble", "bundled", "read", "write_json"]

_ROBOTS = Path(__file__).with_name("robots")


def bundled() -> tuple[str, ...]:
    """The names of the robots that come with the package."""
    return tuple(sorted(path.stem for path in _ROBOTS.glob("*.json")))


def read(name_or_path: str | os.PathLike[str]) -> Description:
    """What a bundled robot, a mechanism or a file says, before fixed joints are merged."""
    text = str(name_or_path)
    path = Path(text)
    if isinstance(name_or_path, str) and not path.suffix and "/" not in text and "\\" not in text:
        return _named(text)
    readers = {".urdf": _read_xml, ".xml": _read_xml, ".mjcf": _read_xml, ".json": _read_json}
    if path.suffix.lower() not in readers:
        raise RobotError(f"{label(path)}: the suffix is none of .urdf, .xml, .mjcf, .json; name the file by its format")
    return readers[path.suffix.lower()](path)


def _named(name: str) -> Description:
    if name.partition(":")[0] in mechanisms.KINDS:
        return mechanisms.parse(name)
    names = bundled()
    if name in names:
        path = _ROBOTS / f"{name}.json"
        return json_format.read(path.read_text(encoding="utf-8"), path, trusted=True)
    near = difflib.get_close_matches(name, (*names, *mechanisms.KINDS), n=3, cutoff=0.4)
    mend = f"did you mean {' or '.join(near)}" if near else f"the robots are {', '.join(names)}"
    raise RobotError(f"there is no bundled robot called {shown(name)}; {mend}")


def _read_json(path: Path) -> Description:
    return json_format.read(read_text(path), path)


def _read_xml(path: Path) -> Description:
    text = read_text(path)
    root = parse_xml(text, label(path)).tag
    if root == "robot":
        return urdf.read(text, path)
    if root == "mujoco":
        from codegen.description import mjcf

        return mjcf.read(text, path)
    raise RobotError(f"{label(path)}: the root element is neither <robot> (URDF) nor <mujoco> (MJCF)")
