"""Symbolic parameters of a generated function, applied to a Model as numbers.

gravity        (3): the acceleration of free fall in world axes
payload:FRAME  (10): mass, centre of mass (3), then Ixx, Iyy, Izz, Ixy, Ixz, Iyz about the payload's centre of
               mass, all in FRAME's axes; a body that is welded to FRAME
inertia:BODY   (10): the same numbers in the place of the inertia of a moving body, in its own frame
offset:JOINT   (3): replaces the translation of that joint's placement in its parent body
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.errors import RobotError
from codegen.geometry import Inertia, Pose, mat3, vec3

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from codegen.model import Body, Model


def with_parameters(model: Model, parameters: Mapping[str, ArrayLike]) -> Model:
    """`model` with the named parameters set; RobotError for a name that means nothing to it."""
    for name in sorted(parameters, key=lambda name: not name.startswith("inertia:")):  # payloads come on top
        model = _with_parameter(model, name, parameters[name])
    return model


def _with_parameter(model: Model, name: str, values: ArrayLike) -> Model:
    kind, _, target = name.partition(":")
    if name == "gravity":
        return replace(model, gravity=vec3(values))
    if kind == "payload":
        frame = model.frame(target)
        if frame.body < 0:
            return model
        body = model.bodies[frame.body]
        return _with_body(
            model, frame.body, replace(body, inertia=body.inertia + payload(values).moved(frame.placement))
        )
    names = [body.name for body in model.bodies]
    if kind == "inertia" and target in names:
        index = names.index(target)
        return _with_body(model, index, replace(model.bodies[index], inertia=payload(values)))
    if kind == "offset" and target in model.joint_names:
        index = model.joint_names.index(target)
        body = model.bodies[index]
        return _with_body(model, index, replace(body, placement=Pose(body.placement.rotation, vec3(values))))
    raise RobotError(
        f"{model.name}: {name!r} names no parameter; use gravity, payload:FRAME, inertia:BODY or offset:JOINT"
    )


def payload(values: ArrayLike) -> Inertia:
    """The inertia that ten payload numbers state, in the payload frame's axes."""
    mass, x, y, z, xx, yy, zz, xy, xz, yz = np.asarray(values, float).reshape(10)
    return Inertia(float(mass), vec3([x, y, z]), mat3([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _with_body(model: Model, index: int, body: Body) -> Model:
    bodies = (*model.bodies[:index], body, *model.bodies[index + 1 :])
    return replace(model, bodies=bodies)
