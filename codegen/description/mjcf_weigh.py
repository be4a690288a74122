"""Bodies weighed by MuJoCo's compiler where their inertia comes from meshes, in a child process with limits.

Nothing else in rigidc opens a mesh. A mesh that takes too long, too much memory, or crashes the compiler ends the
child, and the file is refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from codegen.description.files import label, shortened, shown
from codegen.errors import RobotError
from codegen.limits import CHILD_MEMORY, CHILD_SECONDS, LARGEST_MESHES

if TYPE_CHECKING:
    from collections.abc import Sequence

_START = (
    "import sys, json; request = json.load(sys.stdin); sys.path[:] = request['search']; "
    "from codegen.description.mjcf_child import answer; answer(request['path'], request['memory'])"
)
_FORMATS = (".stl", ".obj", ".msh")


@dataclass(frozen=True, slots=True)
class Weight:
    """The inertia of a body as MuJoCo compiles it: mass, centre and principal axes in the body, principal moments."""

    mass: float
    ipos: tuple[float, ...]
    iquat: tuple[float, ...]
    inertia: tuple[float, ...]


def meshes_of(mujoco: Any, spec: Any) -> list[tuple[Any, Any]]:
    """The geoms whose meshes count in the inertia of bodies, each with its body."""
    return [(geom, geom.parent) for geom in spec.geoms if _shaped(mujoco, geom) and _counts(mujoco, spec, geom)]


def _shaped(mujoco: Any, geom: Any) -> bool:
    return bool(geom.meshname or geom.hfieldname or geom.type == mujoco.mjtGeom.mjGEOM_SDF)


def _counts(mujoco: Any, spec: Any, geom: Any) -> bool:
    """Whether the inertia of a moving body, or the mass of all that is to be scaled, comes from this geom."""
    rule, body = mujoco.mjtInertiaFromGeom, geom.parent
    source = spec.compiler.inertiafromgeom
    explicit = body.explicitinertial and source == rule.mjINERTIAFROMGEOM_AUTO
    low, high = spec.compiler.inertiagrouprange
    counted = low <= geom.group <= high and geom.mass != 0.0 and (geom.mass > 0.0 or geom.density != 0.0)
    if explicit or source == rule.mjINERTIAFROMGEOM_FALSE or not counted:
        return False
    at = body
    while at is not None and at.name != "world":
        if len(at.joints):
            return True
        at = at.parent
    return bool(spec.compiler.settotalmass > 0.0)


def check_meshes(where: str, folders: Sequence[Path], spec: Any, weighed: Sequence[tuple[Any, Any]]) -> None:
    """RobotError unless the meshes are regular files at relative paths, of a kind that MuJoCo reads, not too large."""
    total = 0
    meshes = {mesh.name or PurePosixPath(mesh.file).stem: mesh for mesh in spec.meshes}
    for geom, body in weighed:
        mesh = meshes.get(geom.meshname)
        words = f"{where}: the mass of body {shown(body.name)} comes from the mesh {shown(geom.meshname)}"
        mend = "or give the body an <inertial> element"
        if mesh is None:
            raise RobotError(f"{words}, which rigidc cannot weigh (a height field, or not a mesh); take a mesh {mend}")
        if not mesh.file:
            continue  # its vertices are in the file, or MuJoCo makes them
        inside, name = _mesh_path(spec, mesh)
        if any(kind(part).is_absolute() for kind in (PurePosixPath, PureWindowsPath) for part in (inside, name)):
            raise RobotError(f"{words} at an absolute path; state a relative one, {mend}")
        if Path(name).suffix.lower() not in _FORMATS:
            raise RobotError(f"{words} of a format other than {', '.join(_FORMATS)}; convert it, {mend}")
        sizes = [size for folder in folders if (size := _size(folder / inside / name)) is not None]
        if not sizes:
            raise RobotError(
                f"{words}, whose file {shown(name)} is not there or not a regular file; put it there, {mend}"
            )
        total += max(sizes)
        if total > LARGEST_MESHES:
            raise RobotError(f"{words}: the meshes are larger than {LARGEST_MESHES >> 20} MiB; simplify them, {mend}")


def _mesh_path(spec: Any, mesh: Any) -> tuple[str, str]:
    """The folder that a model keeps its meshes in, and where there the file of one is."""
    # An attached model keeps its own `meshdir`.
    inside = getattr(mesh, "compiler", spec.compiler).meshdir or ""
    return inside, PurePosixPath(mesh.file).name if spec.strippath else mesh.file


def _size(file: Path) -> int | None:
    """The size of a regular file; None for anything else."""
    try:
        return file.stat().st_size if file.is_file() else None
    except (OSError, ValueError):  # a name that is too long, or holds a NUL
        return None


def weights(path: Path) -> tuple[Weight, ...]:
    """The inertias of all bodies of an MJCF file, in the order of its spec, weighed in a child process."""
    where = label(path)
    search = [entry or os.getcwd() for entry in sys.path]
    request = json.dumps({"path": str(path.resolve()), "search": search, "memory": CHILD_MEMORY})
    mend = "simplify its meshes, or give its bodies <inertial> elements"
    try:
        # In a folder of its own: MuJoCo may write a log, and nothing there can pose as a module.
        with tempfile.TemporaryDirectory(prefix="rigidc-") as folder:
            done = subprocess.run(
                [sys.executable, "-c", _START], input=request.encode(), capture_output=True, cwd=folder,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, timeout=CHILD_SECONDS, check=False,
            )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise RobotError(f"{where}: MuJoCo weighs it for more than {CHILD_SECONDS} s; {mend}") from None
    except OSError as error:
        raise RobotError(f"{where}: Python cannot be started to weigh its meshes ({error.strerror}); {mend}") from None
    found = done.stdout.splitlines()[-1:] if done.returncode == 0 else []
    if not found:
        raise RobotError(
            f"{where}: MuJoCo fails to weigh it in {CHILD_MEMORY >> 30} GiB of memory and {CHILD_SECONDS} s; {mend}"
        )
    answered = json.loads(found[0])
    if "refused" in answered:
        raise RobotError(f"{where}: MuJoCo cannot compile this file ({shortened(answered['refused'])})")
    return tuple(Weight(**{key: _frozen(value) for key, value in one.items()}) for one in answered["bodies"])


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
