"""An untrusted MJCF file compiled by MuJoCo, without its assets; a child process weighs meshes where it must."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from codegen.description.files import label, shortened, shown
from codegen.description.mjcf_files import check_files
from codegen.description.mjcf_loops import described
from codegen.description.mjcf_weigh import check_meshes, meshes_of, weights
from codegen.errors import RobotError

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from codegen.description.mjcf_weigh import Weight

_PARTS = (
    *("keys", "sensors", "actuators", "tendons", "pairs", "excludes", "tuples", "numerics", "texts", "skins"),
    "flexes",
)
_ASSETS = ("hfields", "materials", "textures")
_SIZES = (
    *("memory", "njmax", "nconmax", "nstack", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site", "nuser_cam"),
    *("nuser_tendon", "nuser_actuator", "nuser_sensor"),
)
"""Room that a file asks for: it has no part in the dynamics, and -1 lets MuJoCo choose."""


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
    folders = check_files(text, path)
    where = label(path)
    # MuJoCo writes its warnings to a log file in the working directory unless somebody takes them.
    mujoco.set_mju_user_warning(_ignore)
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        weighed = meshes_of(mujoco, spec)
        check_meshes(label(path), folders, spec, weighed)
        left_out = _strip(mujoco, spec)
        stated = [(body, tuple(map(float, body.fullinertia))) for body in spec.bodies]
        if weighed:
            _state(mujoco, spec, weights(path))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # on attributes that MuJoCo will take no more one day
            model = spec.compile()
        full = {body.id: values for body, values in stated if all(map(math.isfinite, values))}
        return Compiled(model, full, tuple(left_out))
    except RobotError:
        raise
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise RobotError(f"{where}: MuJoCo cannot compile this file ({shortened(str(error), 300)})") from None
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


def _strip(mujoco: Any, spec: Any) -> list[str]:
    """Take out of the spec what the dynamics does not need; name what a user might miss."""
    kept = {mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD, mujoco.mjtEq.mjEQ_JOINT}
    left_out = [part for part in ("actuators", "tendons") if len(getattr(spec, part))]
    flags, off = spec.option.disableflags, mujoco.mjtDisableBit
    if flags & off.mjDSBL_GRAVITY:
        spec.option.gravity = [0.0, 0.0, 0.0]
    loose = bool(flags & (off.mjDSBL_EQUALITY | off.mjDSBL_CONSTRAINT))
    led = {body.name for body in spec.bodies if body.mocap}
    for equality in list(spec.equalities):
        if equality.type not in kept or loose or not equality.active or led & _bodies(mujoco, spec, equality):
            left_out.append(_called(mujoco, equality))
            spec.delete(equality)
    lightened(mujoco, spec, frozenset())
    return left_out


def _bodies(mujoco: Any, spec: Any, equality: Any) -> set[str]:
    """The bodies that a connect or weld holds together, by name; no bodies for equalities of joints."""
    names = [name for name in (equality.name1, equality.name2) if name]
    if equality.objtype == mujoco.mjtObj.mjOBJ_SITE:
        return {site.parent.name for site in map(spec.site, names) if site is not None}
    return set(names) if equality.objtype == mujoco.mjtObj.mjOBJ_BODY else set()


def _called(mujoco: Any, equality: Any) -> str:
    """An equality by its name, or by what it ties."""
    if equality.name:
        return f"equality {shown(equality.name)}"
    second = equality.name2 or ("world" if equality.objtype == mujoco.mjtObj.mjOBJ_BODY else "")
    names = [shown(name) for name in (equality.name1, second) if name]
    return f"the {described(int(equality.type), int(equality.objtype), names)}"


def lightened(mujoco: Any, spec: Any, meshes: Container[str]) -> None:
    """Take out of the spec all that no inertia needs: geoms of all but these meshes, other assets, room for data."""
    for geom in list(spec.geoms):
        shaped = geom.meshname or geom.hfieldname or geom.type == mujoco.mjtGeom.mjGEOM_SDF
        if shaped and geom.meshname not in meshes:
            spec.delete(geom)
    for geom in spec.geoms:
        geom.material = ""
        geom.contype = geom.conaffinity = 0  # what never collides needs no convex hull
    for site in spec.sites:
        site.material = ""
    for part in (*_PARTS, *_ASSETS):
        for element in list(getattr(spec, part)):
            spec.delete(element)
    for mesh in list(spec.meshes):
        if (mesh.name or PurePosixPath(mesh.file).stem) not in meshes:
            spec.delete(mesh)
    for size in _SIZES:
        setattr(spec, size, -1)
    spec.nkey = spec.nuserdata = 0
    spec.compiler.fusestatic = spec.compiler.discardvisual = False


def _state(mujoco: Any, spec: Any, weights: Sequence[Weight]) -> None:
    """State the inertias of all bodies as MuJoCo has weighed them."""
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.compiler.settotalmass = -1.0  # it is in the weights
    for body, weight in zip(spec.bodies, weights, strict=True):
        if body.name == "world":
            continue
        body.explicitinertial = True
        body.mass, body.inertia, body.ipos, body.iquat = weight.mass, weight.inertia, weight.ipos, weight.iquat
        body.fullinertia = [math.nan] * 6
