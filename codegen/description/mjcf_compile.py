"""An untrusted MJCF file compiled by MuJoCo, without opening meshes or any other asset."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from codegen.description.files import label, parse_xml, read_text, shown
from codegen.errors import RobotError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codegen.description.files import Element

_REFUSED = ("extension", "plugin", "flexcomp", "composite")
_PARTS = ("keys", "sensors", "actuators", "tendons", "pairs", "excludes", "tuples", "skins", "flexes")
_ASSETS = ("meshes", "hfields", "materials", "textures")
_NUMBERS = {
    *("mass", "density", "diaginertia", "fullinertia", "armature", "size", "fromto", "gravity", "polycoef", "anchor"),
    *("pos", "quat", "euler", "axisangle", "xyaxes", "zaxis", "relpose", "axis", "ref", "range"),
    *("settotalmass", "boundmass", "boundinertia", "inertiagrouprange"),
}
"""Attributes of which the dynamics is made."""
MOST_FILES = 100


@dataclass(frozen=True, slots=True)
class Compiled:
    """A `mujoco.MjModel`, the full inertias that the file states (by body: xx, yy, zz, xy, xz, yz, body axes,
    about the centre of mass), and what was left out, in words."""

    model: Any
    inertias: dict[int, tuple[float, ...]]
    left_out: tuple[str, ...]


def compiled(text: str, path: Path) -> Compiled:
    """The compiled file; RobotError in one sentence if MuJoCo or this module refuses it."""
    mujoco = _mujoco(path)
    _check_files(text, path)
    where = label(path)
    # MuJoCo writes its warnings to a log file in the working directory unless somebody takes them.
    mujoco.set_mju_user_warning(_ignore)
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        left_out = _strip(mujoco, spec, where)
        stated = [(body, tuple(map(float, body.fullinertia))) for body in spec.bodies]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # on attributes that MuJoCo will take no more one day
            model = spec.compile()
        full = {body.id: values for body, values in stated if all(map(math.isfinite, values))}
        return Compiled(model, full, tuple(left_out))
    except RobotError:
        raise
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split())
        raise RobotError(f"{where}: MuJoCo cannot compile this file ({reason[:300]})") from None
    finally:
        mujoco.set_mju_user_warning(None)


def _mujoco(path: Path) -> Any:
    try:
        import mujoco
    except ImportError:
        mujoco = None
    # Deleting elements of a spec came with 3.3.4.
    if mujoco is None or not hasattr(getattr(mujoco, "MjSpec", None), "delete"):
        raise RobotError(
            f"{label(path)}: reading MJCF needs the package mujoco, 3.3.4 or newer; pip install rigidc[mjcf]"
        )
    return mujoco


def _ignore(message: str) -> None:
    pass


def _check_files(text: str, path: Path) -> None:
    """Every included file is a regular file at a relative path, and no element runs or generates things."""
    queue, known = [(text, path)], {path.resolve()}
    while queue:
        content, file = queue.pop()
        root = parse_xml(content, label(file))
        _check_numbers(root, label(file))
        for tag in _REFUSED:
            if root.find(f".//{tag}") is not None or root.tag == tag:
                raise RobotError(f"{label(file)}: the element <{tag}> is not supported; remove it")
        for reference in _references(root):
            target = _target(reference, file, path.parent)
            if target.resolve() in known:
                continue
            known.add(target.resolve())
            if len(known) > MOST_FILES:
                raise RobotError(f"{label(path)}: it includes more than {MOST_FILES} files; include fewer")
            queue.append((read_text(target), target))


def _check_numbers(root: Element, where: str) -> None:
    """RobotError on what is no number: MuJoCo takes a mass of NaN for none that is stated."""
    for element in root.iter("*"):
        for name in _NUMBERS & set(element.keys()):
            for text in element.get(name, "").split():
                if "nan" in text.lower():
                    words = f"{where}: line {element.sourceline}: <{element.tag}>, {name}"
                    raise RobotError(f"{words}: {shown(text)} is not a finite number; correct it")


def _references(root: Element) -> Iterator[str]:
    """Names of the files that MuJoCo reads before any asset: includes and attached models."""
    for tag in ("include", "model"):
        for element in root.iter(tag):
            if element.get("file") is not None:
                yield element.get("file", "")


def _target(reference: str, file: Path, folder: Path) -> Path:
    words = f"{label(file)}: the included file {shown(reference)}"
    if PurePosixPath(reference).is_absolute() or PureWindowsPath(reference).is_absolute():
        raise RobotError(f"{words} has an absolute path; include files by relative paths")
    for candidate in (folder / reference, file.parent / reference):
        if candidate.is_file():
            return candidate
    raise RobotError(f"{words} is not there or not a regular file; correct the path")


def _strip(mujoco: Any, spec: Any, where: str) -> list[str]:
    """Take out of the spec what the dynamics does not need; name what a user might miss."""
    for geom in list(spec.geoms):
        if geom.meshname or geom.hfieldname or geom.type == mujoco.mjtGeom.mjGEOM_SDF:
            _check_massless(mujoco, spec, geom, where)
            spec.delete(geom)
    for geom in spec.geoms:
        geom.material = ""
    for site in spec.sites:
        site.material = ""
    kept = {mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD, mujoco.mjtEq.mjEQ_JOINT}
    left_out = [part for part in ("actuators", "tendons") if len(getattr(spec, part))]
    flags, off = spec.option.disableflags, mujoco.mjtDisableBit
    if flags & off.mjDSBL_GRAVITY:
        spec.option.gravity = [0.0, 0.0, 0.0]
    loose = bool(flags & (off.mjDSBL_EQUALITY | off.mjDSBL_CONSTRAINT))
    for equality in list(spec.equalities):
        if equality.type not in kept or loose or not equality.active:
            left_out.append(f"equality {shown(equality.name)}")
            spec.delete(equality)
    for part in (*_PARTS, *_ASSETS):
        for element in list(getattr(spec, part)):
            spec.delete(element)
    spec.compiler.fusestatic = False
    return left_out


def _check_massless(mujoco: Any, spec: Any, geom: Any, where: str) -> None:
    """RobotError if the inertia of a moving body would come from this mesh."""
    rule, body = mujoco.mjtInertiaFromGeom, geom.parent
    source = spec.compiler.inertiafromgeom
    explicit = body.explicitinertial and source == rule.mjINERTIAFROMGEOM_AUTO
    low, high = spec.compiler.inertiagrouprange
    counted = low <= geom.group <= high and geom.mass != 0.0 and (geom.mass > 0.0 or geom.density != 0.0)
    if explicit or source == rule.mjINERTIAFROMGEOM_FALSE or not counted:
        return
    at = body
    while at is not None and at.name != "world":
        if len(at.joints):
            raise RobotError(
                f"{where}: the mass of body {shown(body.name)} comes from the mesh "
                f"{shown(geom.meshname)}, which is never opened; give the body an <inertial> element"
            )
        at = at.parent
