"""Symbols of a function's arguments, named by ports and joints: q_shoulder, v_shoulder, inertia_arm_m."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sympy import Symbol, sympify
from sympy.core.sympify import SympifyError

from codegen.algorithms import QUANTITIES
from codegen.errors import RobotError, shown
from codegen.tracing.task import PARAMETERS, parameter_port

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.ir.graph import Port
    from codegen.model import Model

_POSITION, _TWIST = ("x", "y", "z"), ("vx", "vy", "vz", "wx", "wy", "wz")
_QUATERNION = {"pinocchio": ("qx", "qy", "qz", "qw"), "mujoco": ("qw", "qx", "qy", "qz")}
_INERTIA = ("m", "x", "y", "z", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
_ENTRIES = {"gravity": _POSITION, "offset": _POSITION, "payload": _INERTIA, "inertia": _INERTIA}
POINT = 4  # numbers of an inertia that is that of a point: mass and place


def coordinates(model: Model, velocities: bool = False) -> tuple[str, ...]:
    """By elements of q (or of v), the joint and, if it has several coordinates, which one: shoulder, base_qx."""
    words, slices = joint_words(model), model.v_slices if velocities else model.q_slices
    found = []
    for body, place in zip(model.bodies, slices, strict=True):
        labels = _labels(body.joint.type, model.convention, velocities, place.stop - place.start)
        found += [f"{words[body.joint.name]}_{label}" if label else words[body.joint.name] for label in labels]
    return tuple(found)


def _labels(kind: str, convention: str, velocities: bool, size: int) -> Sequence[str]:
    """What the coordinates of one joint are called; numbers for joints that are not known here."""
    quaternion = _QUATERNION[convention]
    known = {
        "floating": _TWIST if velocities else (*_POSITION, *quaternion),
        "spherical": _TWIST[3:] if velocities else quaternion,
        "planar": ("vx", "vy", "wz") if velocities else ("x", "y", "angle"),
    }
    labels: Sequence[str] = ("",) if size == 1 else known.get(kind, ())
    return labels if len(labels) == size else [str(n) for n in range(size)]


def joint_words(model: Model) -> dict[str, str]:
    """By joints, their names as parts of symbols: letters, digits and underscores, without a last `_joint`."""
    return dict(zip(model.joint_names, _distinct(model.joint_names), strict=True))


def _distinct(names: Iterable[str]) -> list[str]:
    taken: list[str] = []
    for name in names:
        plain = "_".join(re.findall(r"\w+", name, re.ASCII)) or "joint"
        short = plain.removesuffix("_joint") or plain
        word = short if short not in taken else plain
        number = 2
        while word in taken:
            word, number = f"{plain}_{number}", number + 1
        taken.append(word)
    return taken


def symbols_of(model: Model, ports: Iterable[Port], parameters: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    """By names of ports, a real symbol for each of their elements; `parameters` are numbers of the robot among them."""
    stated = {parameter_port(model, spec).name: spec for spec in parameters if spec.partition(":")[0] in PARAMETERS}
    return {port.name: _named(model, port, stated) for port in ports}


def expressions_of(model: Model, parameters: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """By names of ports, the expressions that are given for parameters (None: none).

    RobotError if they are no SymPy expressions or numbers, too few or too many, or no numbers of the robot.
    """
    found = {}
    for spec, given in parameters.items():
        if given is not None and spec.partition(":")[0] not in PARAMETERS:
            raise RobotError(f"parameter {spec!r} is no number of the robot; give None for its expressions")
        if given is not None:
            port = parameter_port(model, spec)
            found[port.name] = _expressions(spec, given, port.size)
    return found


def _named(model: Model, port: Port, stated: Mapping[str, str]) -> tuple[Any, ...]:
    """The symbols of a port, by what its elements are along its axes."""
    axis = QUANTITIES[port.name].shape[:1] if port.name in QUANTITIES else ()
    if axis in (("nq",), ("nv",)):
        labels = coordinates(model, axis == ("nv",))
    elif port.name in stated:
        labels = _ENTRIES[stated[port.name].partition(":")[0]]
    else:
        labels = tuple(_numbered(port.shape, element) for element in range(port.size))
    return tuple(Symbol(f"{port.name}_{label}" if label else port.name, real=True) for label in labels)


def _numbered(shape: tuple[int, ...], element: int) -> str:
    """The indices, from zero, of an element of an array of this shape (row-major)."""
    places = []
    for extent in reversed(shape):
        element, place = divmod(element, extent)
        places.append(str(place))
    return "_".join(reversed(places))


def _expressions(spec: str, given: Any, size: int) -> tuple[Any, ...]:
    """What is given for a parameter as SymPy expressions; of an inertia, mass and place of a point will do."""
    try:
        entries = [entry if hasattr(entry, "free_symbols") else sympify(entry, strict=True) for entry in given]
    except (TypeError, SympifyError) as error:
        raise RobotError(
            f"parameter {spec!r}: give {size} SymPy expressions or numbers, not {shown(str(given))}"
        ) from error
    if size == len(_INERTIA) and len(entries) == POINT:
        entries += [sympify(0)] * (size - POINT)
    if len(entries) != size:
        raise RobotError(f"parameter {spec!r}: {size} expressions are needed, not {len(entries)}")
    return tuple(entries)
