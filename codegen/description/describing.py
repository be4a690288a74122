"""Model -> Description: one link per body, its joint and frames, so that a model can be written as a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codegen.description.description import (
    SCALAR_JOINTS,
    DescribedFrame,
    DescribedJoint,
    DescribedLoop,
    Description,
    Link,
)
from codegen.description.loops import canonical
from codegen.geometry import Inertia, Pose, mat3, vec3
from codegen.model import ScrewJoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.model import Body, Frame, Loop, Model

FREE = "floating_base"  # the joint of a floating root link, which a description leaves unsaid


def described(model: Model) -> Description:
    """A description that assembles to the model again: the same bodies, frames and loops, up to rounding.

    The links are the bodies, and a root link for the world, unless the robot floats as a whole.
    """
    own = {frame.name: frame for frame in model.frames}
    alone = _floats_alone(model)
    root = "" if alone else _root(model)
    links = {-1: root} | {b: body.name for b, body in enumerate(model.bodies)}
    ends = {b: own[body.name].placement for b, body in enumerate(model.bodies)} | {-1: Pose()}
    described = [_link(body, ends[b]) for b, body in enumerate(model.bodies)]
    joints = [_joint(links, ends, b, body) for b, body in enumerate(model.bodies)]
    named = set(links.values())
    return Description(
        name=model.name,
        links=tuple(described if alone else [Link(root), *described]),
        joints=tuple(joints[1:] if alone else joints),
        frames=tuple(_frame(links, ends, frame) for frame in model.frames if frame.name not in named),
        loops=tuple(_loop(links, ends, own, loop) for loop in model.loops),
        base="floating" if alone else "fixed",
        gravity=model.gravity,
        source=model.source,
        notes=model.notes,
        where=model.name,
    )


def _floats_alone(model: Model) -> bool:
    """Whether the world carries nothing but one body, freely, as a description's floating base has it."""
    on_world = [body for body in model.bodies if body.parent < 0]
    if len(on_world) != 1 or any(frame.body < 0 for frame in model.frames):
        return False
    (body,) = on_world
    joint, frame = body.joint, model.frame(body.name)
    return (joint.type, joint.name, joint.armature, body.placement, frame.placement) == (
        *("floating", FREE, 0.0),
        *(Pose(), Pose()),
    )


def _root(model: Model) -> str:
    """The name of a frame that is the world's own, or a new one."""
    taken = {frame.name for frame in model.frames}
    for frame in model.frames:
        if frame.body < 0 and frame.placement == Pose():
            return frame.name
    name = "world"
    while name in taken:
        name += "_"
    return name


def _link(body: Body, end: Pose) -> Link:
    still = end == Pose() or body.inertia == Inertia()
    return Link(body.name, body.inertia if still else body.inertia.moved(end.inverse()))


def _joint(links: Mapping[int, str], ends: Mapping[int, Pose], b: int, body: Body) -> DescribedJoint:
    joint, carrier = body.joint, ends[body.parent]
    stated = DescribedJoint(
        name=joint.name,
        type=joint.type,
        parent=links[body.parent],
        child=body.name,
        placement=body.placement if carrier == Pose() else carrier.inverse() @ body.placement,
        attachment=ends[b],
        armature=joint.armature,
    )
    if joint.type not in SCALAR_JOINTS:
        return stated
    limits = {name: getattr(joint, name) for name in ("lower", "upper", "velocity", "effort")}
    if isinstance(joint, ScrewJoint):
        stated = replace(stated, turn=joint.turns_by, slide=joint.slides_by)
    return replace(stated, axis=joint.axis, **limits)


def _frame(links: Mapping[int, str], ends: Mapping[int, Pose], frame: Frame) -> DescribedFrame:
    end = ends[frame.body]
    return DescribedFrame(
        frame.name, links[frame.body], frame.placement if end == Pose() else end.inverse() @ frame.placement
    )


def _loop(links: Mapping[int, str], ends: Mapping[int, Pose], own: Mapping[str, Frame], loop: Loop) -> DescribedLoop:
    """The loop between the links of the description; independent joints that were chosen are named."""
    data: dict[str, Any] = loop.stated
    for side in ("predecessor", "successor"):
        if loop.kind == "coupling":
            data[side] = links[own[data[side]].body]
        elif loop.kind == "closure":
            frame, inner = own[data[side]["link"]], data[side]
            turn, place = inner.get("rotation", Pose().rotation), inner.get("translation", (0.0, 0.0, 0.0))
            pose = ends[frame.body].inverse() @ frame.placement @ Pose(mat3(turn), vec3(place))
            data[side] = {"link": links[frame.body], "translation": pose.translation, "rotation": pose.rotation}
    if not loop.explicit or loop.kind == "coupling":
        data["independent"] = loop.independent
    return DescribedLoop(loop.name, loop.kind, canonical(data))
