"""Robot descriptions: URDF, MJCF and rigidc's own JSON, read into frozen models.

`load` is the way in. `read` and `assemble` are its two halves, `write_json` writes what `read` has read, and
`bundled` lists the robots that come with the package.
"""

from __future__ import annotations

import difflib
from collections.abc import Hashable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen.description import json_format, urdf
from codegen.description.assemble import SNAP, assemble
from codegen.description.description import Description
from codegen.description.files import label, parse_xml, read_text, shown
from codegen.description.json_format import write_json
from codegen.errors import RobotError
from codegen.progress import doing

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from codegen.description.description import Base
    from codegen.description.merge import Order
    from codegen.model import Convention, Model

__all__ = ["Description", "assemble", "bundled", "load", "read", "write_json"]

_ROBOTS = Path(__file__).with_name("robots")


def bundled() -> tuple[str, ...]:
    """The names of the robots that come with the package."""
    return tuple(sorted(path.stem for path in _ROBOTS.glob("*.json")))


def load(
    name_or_path: str | os.PathLike[str],
    base: Base | None = None,
    convention: Convention = "pinocchio",
    order: Order = "file",
    snap: float = SNAP,
    gravity: Sequence[float] | None = None,
) -> Model:
    """The model of a bundled robot ("talos"), a mechanism ("chain:20") or a file (.urdf, .xml, .mjcf, .json).

    `base` None keeps what the file says; "floating" lets the root link move freely, "fixed" welds to the world what
    floats. `convention` is that of quaternions and base velocities ("pinocchio" or "mujoco"). `order` "file" keeps the
    order of the joints in the file, "name" sorts those that one body carries. Entries of rotations and axes below
    `snap` (rad) become zeros. `gravity` (m/s^2, three numbers) replaces that of the file. Raises RobotError, in one
    sentence, on anything that cannot be used.
    """
    options = (base, convention, order, snap)
    with doing(f"reading {name_or_path}"):
        if name_or_path in bundled() and gravity is None and all(isinstance(x, Hashable) for x in options):
            return _bundled(str(name_or_path), *options)
        return assemble(read(name_or_path), *options, gravity)


@lru_cache(maxsize=64)
def _bundled(name: str, *options: Any) -> Model:
    """The model of a bundled robot, assembled once: it is immutable, and so is its file."""
    return assemble(read(name), *options)


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
    # Mechanisms are made through `assemble`, so they can only be imported once this package is there.
    from codegen import mechanisms

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
