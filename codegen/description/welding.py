"""Bodies welded to what carries them, and what is left of a loop whose joints partly stand still."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from casadi import SX, evalf, symvar

from codegen.description import snap as snapping
from codegen.description.files import shown
from codegen.description.loops import canonical
from codegen.description.rotations import about, from_wxyz
from codegen.description.snap import SNAP
from codegen.description.validate import listed, weightless
from codegen.errors import RobotError
from codegen.expressions.derivatives import VARIABLE
from codegen.expressions.parsing import parse, substituted
from codegen.geometry import Inertia, Pose, vec3
from codegen.kinematic_loops.constraints import linear_rows
from codegen.kinematic_loops.frame_closures import closure
from codegen.model import Loop, ScrewJoint

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from codegen.model import Body, Convention, Joint, Model

CLOSED = 1e-6  # m or rad; a loop that stands still as a whole may be open by this much


def motion(joint: Joint, convention: Convention, q: Sequence[float]) -> Pose:
    """Where a joint's moving frame is in the joint frame at positions q (nq)."""
    if joint.type == "revolute":
        return Pose(about(joint.axis, q[0]))
    if joint.type == "prismatic":
        return Pose(translation=vec3([q[0] * part for part in joint.axis]))
    if isinstance(joint, ScrewJoint):
        angle, along = (float(parse(text, {VARIABLE: SX(q[0])})) for text in (joint.turns_by, joint.slides_by))
        return Pose(about(joint.axis, angle), vec3([along * part for part in joint.axis]))
    if joint.type == "planar":
        return Pose(about((0.0, 0.0, 1.0), q[2]), (q[0], q[1], 0.0))
    turn = q[-4:] if convention == "mujoco" else (q[-1], *q[-4:-1])
    return Pose(from_wxyz(turn), vec3(q[:-4] or (0.0, 0.0, 0.0)))


def welded(model: Model, motions: Mapping[int, Pose]) -> Model:
    """The model without some bodies, whose joints stand still at these motions; loops and nodes are left as they are.

    Their inertias go to the bodies that carry them (those that the world carries are lost), and so do their frames.
    What no weld touches keeps its numbers exactly.
    """
    carrier, pose = {-1: -1}, {-1: Pose()}
    bodies: list[Body] = []
    gained: dict[int, Inertia] = {}
    for b, body in enumerate(model.bodies):
        on, at = carrier[body.parent], pose[body.parent]
        placement = body.placement if at == Pose() else snapping.pose(at @ body.placement, SNAP)
        if b in motions:
            carrier[b], pose[b] = on, snapping.pose(placement @ motions[b], SNAP)
            gained[on] = gained.get(on, Inertia()) + body.inertia.moved(pose[b])
        else:
            carrier[b], pose[b] = len(bodies), Pose()
            bodies.append(replace(body, parent=on, placement=placement))
    for on, inertia in gained.items():
        if on >= 0 and inertia != Inertia():
            bodies[on] = replace(bodies[on], inertia=snapping.inertia(bodies[on].inertia + inertia, SNAP))
    frames = tuple(
        replace(frame, body=carrier[frame.body], placement=snapping.pose(pose[frame.body] @ frame.placement, SNAP))
        if frame.body in motions
        else replace(frame, body=carrier[frame.body])
        for frame in model.frames
    )
    gone = {weightless(model.bodies[b].name) for b in motions}
    notes = tuple(note for note in model.notes if note not in gone)
    return replace(model, bodies=tuple(bodies), frames=frames, notes=notes)


def remaining(model: Model, merged: Model, still: Mapping[str, Sequence[float]]) -> tuple[Loop, ...]:
    """The loops of `model` between the joints that are left in `merged`, once those of `still` stand there.

    An implicit loop has to choose its independent joints anew (it names none) if none of them is left, or if a joint
    stands still that followed them. RobotError for what cannot be kept.
    """
    found = {name: q[0] for name, q in still.items() if len(q) == 1}
    loops = []
    for loop in model.loops:
        if not set(loop.joints) & set(still):
            loops.append(loop)
        elif (left := _left(model, merged, loop, still, found)) is not None:
            loops.append(left)
    return tuple(loops)


def _left(
    model: Model, merged: Model, loop: Loop, still: Mapping[str, object], found: Mapping[str, float]
) -> Loop | None:
    if loop.kind == "linear":
        return _linear(model, loop, found)
    if loop.kind == "coupling":
        return _coupling(model, loop, found)
    return _formulas(model, loop, found) if loop.explicit else _implicit(merged, loop, still, found)


def _leads(model: Model, loop: Loop, joint: str, leaders: Sequence[str]) -> RobotError:
    return RobotError(
        f"{model.name}: joint {shown(joint)} follows {listed(leaders)} (loop {shown(loop.name)}), so it cannot be "
        f"locked by itself; lock {'these joints' if len(leaders) > 1 else 'that joint'} instead"
    )


def _linear(model: Model, loop: Loop, found: Mapping[str, float]) -> Loop | None:
    """The rows of the dependent joints that still move; locked leaders go into the offset."""
    data = loop.stated
    leaders = [name for name in data["independent"] if name not in found]
    dependent, matrix, offset = list[str](), list[list[float]](), list[float]()
    offsets = data.get("offset", [0.0] * len(data["dependent"]))
    for name, factors, start in zip(data["dependent"], data["matrix"], offsets, strict=True):
        row = dict(zip(data["independent"], factors, strict=True))
        moving = [other for other in leaders if row[other]]
        if name in found:
            if moving:
                raise _leads(model, loop, name, moving)
            continue
        dependent.append(name)
        matrix.append([row[other] for other in leaders])
        offset.append(start + sum(row[other] * found[other] for other in row if other in found))
    if not dependent:
        return None
    return _stated_linear(loop.name, leaders, dependent, matrix, offset)


def _stated_linear(
    name: str, leaders: Sequence[str], dependent: Sequence[str], matrix: list[list[float]], offset: list[float]
) -> Loop:
    data = {"independent": leaders, "dependent": dependent, "matrix": matrix, "offset": offset}
    return Loop(name, "linear", (*leaders, *dependent), tuple(leaders), canonical(data))


def _coupling(model: Model, loop: Loop, found: Mapping[str, float]) -> Loop | None:
    """The same equation, with an offset, as a linear loop; its dependent joint, or the last one that may follow."""
    number = {name: b for b, name in enumerate(model.joint_names)}
    ((terms, _),) = linear_rows(model, number, loop)
    factors = {name: terms[number[name]] for name in loop.joints if terms[number[name]]}
    moving = [name for name in factors if name not in found]
    if not moving:
        return None
    dependent = _follower(model, loop, moving)
    leaders = [name for name in moving if name != dependent]
    side = -sum(factors[name] * found[name] for name in factors if name in found)
    row = [-factors[name] / factors[dependent] for name in leaders]
    return _stated_linear(loop.name, leaders, [dependent], [row], [side / factors[dependent]])


def _follower(model: Model, loop: Loop, moving: Sequence[str]) -> str:
    """Of a coupling's joints that still move, the one that follows: as stated, or the last that is free to."""
    others = [other for other in model.loops if other is not loop and other.independent]
    taken = {name for other in others for name in set(other.joints) - set(other.independent)}
    given = [name for name in moving if loop.independent and name not in loop.independent]
    loose = [name for name in moving if name not in taken]
    (dependent,) = given or loose[-1:] or moving[-1:]
    return dependent


def _formulas(model: Model, loop: Loop, found: Mapping[str, float]) -> Loop | None:
    """The formulas of the dependent joints that still move, with numbers for locked leaders."""
    data = loop.stated
    known = {name: found[joint] for name, joint in data["variables"].items() if joint in found}
    moving = {name: joint for name, joint in data["variables"].items() if joint not in found}
    symbols = {name: SX.sym(name) for name in moving}
    for joint, text in data["explicit"].items():
        if joint in found and not (formula := parse(substituted(text, known), symbols)).is_constant():
            raise _leads(model, loop, joint, [moving[symbol.name()] for symbol in symvar(formula)])
    texts = {joint: substituted(text, known) for joint, text in data["explicit"].items() if joint not in found}
    if not texts:
        return None
    return _kept(loop, {**data, "variables": moving, "explicit": texts}, found)


def _implicit(merged: Model, loop: Loop, still: Mapping[str, object], found: Mapping[str, float]) -> Loop | None:
    """The same constraint between fewer joints; where all stand still, it has to be closed."""
    data = loop.stated
    if loop.kind == "expression":
        known = {name: found[joint] for name, joint in data["variables"].items() if joint in found}
        moving = {name: joint for name, joint in data["variables"].items() if joint not in found}
        data |= {"variables": moving, "implicit": [substituted(text, known) for text in data["implicit"]]}
    if all(name in still for name in loop.joints):
        _check_closed(merged, replace(loop, data=canonical(data)))
        return None
    return _kept(loop, data, still)


def _check_closed(merged: Model, loop: Loop) -> None:
    """RobotError for a loop, all of whose joints stand still, that these leave open."""
    if loop.kind == "expression":
        gaps, agree = [float(parse(text, {})) for text in loop.stated["implicit"]], True
    else:
        phi, facing = closure(merged, {}, loop, lambda b, q: _none(b), [Pose()] * len(merged.bodies))
        gaps = [float(x) for x in np.array(evalf(phi)).ravel()]
        agree = bool((np.array(evalf(facing)) > 0.5).all())
    off = max((abs(x) for x in gaps), default=0.0)
    if not off <= CLOSED or not agree:
        how = f"open by {off:.3g}" if not off <= CLOSED else "turned the wrong way round"
        raise RobotError(
            f"{merged.name}: loop {shown(loop.name)} is {how} where its joints are locked; lock them where they close "
            "it, as robot.project or robot.neutral() do"
        )


def _none(body: int) -> Any:
    raise AssertionError(f"no joint between the two ends of a loop that stands still, but that of body {body}")


def _kept(loop: Loop, data: dict[str, Any], still: Mapping[str, object]) -> Loop:
    """A loop with fewer joints, its independent ones as named unless others stand still than these."""
    own = _moving(loop.independent, still)
    given = [name for name in loop.joints if name not in loop.independent]
    following = _moving(given, still)
    if not loop.explicit and (len(following) < len(given) or not own):
        left = {key: value for key, value in data.items() if key not in ("independent", "scale")}
        return Loop(loop.name, loop.kind, (*own, *following), (), canonical(left))
    joints = tuple(_moving(loop.joints, still))
    return Loop(loop.name, loop.kind, joints, tuple(own), canonical({**data, **_independent(data, still)}))


def _moving(joints: Iterable[str], still: Container[str]) -> list[str]:
    """Those of these joints that do not stand still."""
    return [name for name in joints if name not in still]


def _independent(data: Mapping[str, Any], still: Container[str]) -> dict[str, Any]:
    """What a loop's data says of its independent joints, and their scales, of those that still move."""
    left: dict[str, Any] = {}
    if "independent" in data:
        left["independent"] = _moving(data["independent"], still)
    if "scale" in data:
        pairs = zip(data["independent"], data["scale"], strict=True)
        left["scale"] = [scale for name, scale in pairs if name not in still]
    return left
