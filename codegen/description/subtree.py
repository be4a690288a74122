"""Subtrees: what hangs on a link, or on a joint, as a robot of its own, with frames and loops."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.description import snap as snapping
from codegen.description.clusters import clustered
from codegen.description.files import shown
from codegen.description.merge import floating_base
from codegen.description.snap import SNAP
from codegen.errors import RobotError
from codegen.geometry import Pose
from codegen.model import Frame, Joint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.description.description import Base
    from codegen.model import Body, Loop, Model


def subtree(model: Model, at: str, base: Base = "fixed") -> Model:
    """See `Robot.subtree`."""
    if base not in ("fixed", "floating"):
        raise RobotError(f"base={base!r} is not known; use 'fixed' or 'floating'")
    root, first = _root(model, at)
    if base == "floating":
        _check_floats(model, root, first)
    kept = _hanging(model, root.body, first)
    names = {model.bodies[b].joint.name for b in kept}
    number = {root.body: -1} | {b: n for n, b in enumerate(kept)}
    if base == "floating":
        number = {-1: -1, root.body: 0} | {b: n for n, b in enumerate(kept, 1)}
    loops = tuple(loop for loop in model.loops if _inside(model, loop, names))
    bodies = tuple(_carried(model.bodies[b], number, root) for b in kept)
    if base == "floating":
        bodies = (_floating(model, root, bodies), *bodies)
    frames = (frame for frame in model.frames if frame.body == root.body or frame.body in kept)
    note = f"This is what hangs on {shown(at)} of {shown(model.name)}; gravity is stated in its axes."
    part = replace(
        model,
        name=f"{model.name}_{at}",
        bodies=bodies,
        frames=tuple(_kept(frame, number, root) for frame in frames),
        loops=loops,
        notes=(*model.notes, note),
    )
    return clustered(part)


def _root(model: Model, at: str) -> tuple[Frame, int | None]:
    """The frame of this name; or the joint frame of the joint of this name, and the body that it moves."""
    frame = next((frame for frame in model.frames if frame.name == at), None)
    if frame is not None:
        return frame, None
    joints = {joint: b for b, joint in enumerate(model.joint_names)}
    if at not in joints:
        raise RobotError(f"{model.name}: there is no frame or joint {shown(at)}; `rigidc info --frames` lists them")
    body = model.bodies[joints[at]]
    return Frame(at, body.parent, body.placement), joints[at]


def _check_floats(model: Model, root: Frame, first: int | None) -> None:
    """RobotError unless the frame `root` is on a body, which may float."""
    if first is not None or root.body < 0:
        what = "is a joint" if first is not None else "is on the world, which has no inertia"
        raise RobotError(f"{model.name}: {shown(root.name)} {what}; name a moving link for a floating base")


def _hanging(model: Model, root: int, first: int | None) -> list[int]:
    """The bodies that body `root` (-1: the world) carries, directly or not: all, or by way of its child `first`."""
    kept: list[int] = []
    for b, body in enumerate(model.bodies):
        if body.parent in kept or (body.parent == root and first in (None, b)):
            kept.append(b)
    return kept


def _inside(model: Model, loop: Loop, joints: set[str]) -> bool:
    """Whether a loop ties these joints alone, or none of them; RobotError if it ties some of them to others."""
    inner = [name for name in loop.joints if name in joints]
    outer = [name for name in loop.joints if name not in joints]
    if inner and outer:
        raise RobotError(
            f"{model.name}: loop {shown(loop.name)} ties joint {shown(inner[0])}, which is part of the subtree, to "
            f"{shown(outer[0])}, which is not; take a link that carries both, or lock one of them first"
        )
    return bool(inner)


def _carried(body: Body, number: Mapping[int, int], root: Frame) -> Body:
    return replace(body, parent=number[body.parent], placement=_seen(root, body.parent, body.placement))


def _kept(frame: Frame, number: Mapping[int, int], root: Frame) -> Frame:
    return replace(frame, body=number[frame.body], placement=_seen(root, frame.body, frame.placement))


def _seen(root: Frame, on: int, pose: Pose) -> Pose:
    """A pose on a body: on that of the frame `root` as seen in this frame, on others as it is."""
    return snapping.pose(root.placement.inverse() @ pose, SNAP) if on == root.body else pose


def _floating(model: Model, root: Frame, bodies: tuple[Body, ...]) -> Body:
    """The body of the frame `root`, seen in this frame, on a floating joint."""
    name = floating_base({body.joint.name for body in bodies})
    body = model.bodies[root.body]
    inertia = snapping.inertia(body.inertia.moved(root.placement.inverse()), SNAP)
    return replace(body, parent=-1, joint=Joint(name, "floating"), placement=Pose(), inertia=inertia)
