"""A robot of ours as MJCF text for MuJoCo and what reads its files: its bodies, joints and frames, and no shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codegen.geometry import Pose
    from codegen.model import Body, Model


def mjcf(model: Model, option: str = "", inside: str = "", after: str = "") -> str:
    """`model` (convention `mujoco`) as MJCF: one site per frame, joints in the same order.

    `option` are attributes and `inside` elements of <option>, `after` elements after the robot's.
    """
    assert model.convention == "mujoco"
    bodies = "".join(_element(model, i) for i, body in enumerate(model.bodies) if body.parent < 0)
    return (
        f'<mujoco model={quoteattr(model.name)}><compiler angle="radian" autolimits="false"/>'
        f'<option gravity="{_numbers(model.gravity)}" {option}>{inside}</option>'
        f"<worldbody>{bodies}</worldbody>{after}</mujoco>"
    )


def _element(model: Model, index: int) -> str:
    body = model.bodies[index]
    inner = "".join(_element(model, i) for i, child in enumerate(model.bodies) if child.parent == index)
    sites = "".join(
        f"<site name={quoteattr(frame.name)} {_place(frame.placement)}/>"
        for frame in model.frames
        if frame.body == index
    )
    return (
        f"<body name={quoteattr(body.name)} {_place(body.placement)}>{_inertial(body)}{_joints(body)}"
        f"{sites}{inner}</body>"
    )


def _inertial(body: Body) -> str:
    moment = np.array(body.inertia.moment)
    six = [*np.diag(moment), moment[0, 1], moment[0, 2], moment[1, 2]]
    mass, com = body.inertia.mass, _numbers(body.inertia.com)
    return f'<inertial mass="{mass!r}" pos="{com}" fullinertia="{_numbers(six)}"/>'


def _joints(body: Body) -> str:
    joint = body.joint
    common = f'armature="{joint.armature!r}"'
    name = quoteattr(joint.name)
    if joint.type == "floating":
        return f'<joint name={name} type="free" {common}/>'
    if joint.type == "spherical":
        return f'<joint name={name} type="ball" {common}/>'
    if joint.type == "planar":
        slides = "".join(f'<joint type="slide" axis="{axis}" {common}/>' for axis in ("1 0 0", "0 1 0"))
        return f'{slides}<joint name={name} type="hinge" axis="0 0 1" {common}/>'
    kind = {"revolute": "hinge", "prismatic": "slide"}[joint.type]
    return f'<joint name={name} type="{kind}" axis="{_numbers(joint.axis)}" {common}/>'


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in values)


def _place(pose: Pose) -> str:
    R = np.array(pose.R)
    return f'pos="{_numbers(pose.p)}" xyaxes="{_numbers([*R[:, 0], *R[:, 1]])}"'
