"""Joints locked at given positions: their bodies become part of what carries them, and what follows them stops too."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.description.clusters import clustered
from codegen.description.description import SCALAR_JOINTS
from codegen.description.files import shown
from codegen.description.following import followed
from codegen.description.loops import canonical
from codegen.description.validate import listed
from codegen.description.welding import motion, remaining, welded
from codegen.errors import RobotError
from codegen.kinematic_loops import states
from codegen.kinematic_loops.independent_joints import completed
from codegen.limits import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from codegen.model import Body, Model

RIGID = "make its joints fixed"


def lock(
    model: Model, joints: Mapping[str, float | Sequence[float] | None] | Iterable[str], q: ArrayLike | None = None
) -> Model:
    """See `Robot.lock`."""
    if isinstance(joints, str):
        raise RobotError(f"{model.name}: lock takes a mapping or a list of joints; write [{joints!r}]")
    pairs = joints.items() if isinstance(joints, Mapping) else ((name, None) for name in joints)
    asked = {str(name): value for name, value in pairs}
    bodies = {name: body_of(model, name) for name in asked}
    at = {name: _values(model, bodies[name], value) for name, value in asked.items() if value is not None}
    if len(at) < len(asked):
        at = _with_usual(model, asked, at, q)
    return _locked(model, at) if at else model


def _with_usual(
    model: Model, asked: Iterable[str], given: Mapping[str, tuple[float, ...]], q: ArrayLike | None
) -> dict[str, tuple[float, ...]]:
    """The given positions, and of the other joints asked for those at q, but of joints that follow these."""
    usual, own = _positions(model, q), {model.bodies[b].joint.name for part in model.position_bodies for b in part}
    at = {**given, **{name: usual[name] for name in asked if name not in given and name in own}}
    led = followed(model, _scalars(model, at))
    return at | {name: usual[name] for name in asked if name not in at and name not in led}


def lock_all_but(model: Model, joints: Sequence[str], q: ArrayLike | None = None) -> Model:
    """See `Robot.lock_all_but`."""
    for name in joints:
        body_of(model, name)
    moving = _led(model, joints)
    for name in joints:
        if name not in moving:
            loop = next(loop for loop in model.loops if name in set(loop.joints) - set(loop.independent))
            raise RobotError(
                f"{model.name}: joint {shown(name)} follows {listed(loop.independent)} (loop {shown(loop.name)}); "
                "keep these joints too"
            )
    at, own = _positions(model, q), [b for bodies in model.position_bodies for b in bodies]
    locked = [name for b in own if (name := model.bodies[b].joint.name) not in moving]
    return _locked(model, {name: at[name] for name in locked}) if locked else model


def _led(model: Model, joints: Iterable[str]) -> set[str]:
    """Of these joints those that are independent, and all that follow them, if only in part."""
    own = {model.bodies[b].joint.name for bodies in model.velocity_bodies for b in bodies}
    moving, before = own.intersection(joints), 0
    while len(moving) > before:
        before = len(moving)
        for loop in model.loops:
            if moving.intersection(loop.independent):
                moving |= set(loop.joints) - set(loop.independent)
    return moving


def settled(model: Model) -> Model:
    """The model with the joints locked that its loops hold still, following nothing that moves; a note names them."""
    still = followed(model, {})
    if not still:
        return model
    held = _without(model, {name: (q,) for name, q in still.items()})
    note = f"Joints that a loop holds still are fixed: {', '.join(map(shown, still))}."
    return replace(held, notes=(*held.notes, note))


def _locked(model: Model, at: Mapping[str, tuple[float, ...]]) -> Model:
    """The model with joints locked at these positions, checked, and a note on each."""
    followers = followed(model, _scalars(model, at))
    still = {**at, **{name: (q,) for name, q in followers.items()}}
    left = _without(model, still)
    try:
        left = _scaled(model, completed(left))
    except RobotError as error:
        reason = str(error).removeprefix(f"{model.name}: ")
        mend = "lock all of its joints where they close it, or none"
        raise RobotError(f"{model.name}: with {listed([*at])} locked, {reason.replace(RIGID, mend)}") from None
    words = (f"{shown(name)} at {', '.join(f'{x:.9g}' for x in q)}" for name, q in still.items())
    return replace(left, notes=(*left.notes, f"Locked joints: {'; '.join(words)}."))


def _without(model: Model, still: Mapping[str, tuple[float, ...]]) -> Model:
    """The model whose joints in `still` stand at these positions; not checked yet."""
    for name, q in still.items():
        if not all(abs(x) <= LARGEST for x in q):
            raise RobotError(
                f"{model.name}: a loop puts joint {shown(name)} at {q[0]!r}, beyond {LARGEST:g}; correct it"
            )
    motions = {
        b: motion(body.joint, model.convention, still[body.joint.name])
        for b, body in enumerate(model.bodies)
        if body.joint.name in still
    }
    merged = welded(model, motions)
    return clustered(replace(merged, loops=remaining(model, merged, still)))


def _scaled(before: Model, model: Model) -> Model:
    """The model with the factors of `before` from velocities to rates where loops had to choose their joints anew."""
    stated = {loop.name: loop for loop in before.loops if "scale" in loop.stated}
    loops = []
    for loop in model.loops:
        if loop.name in stated and "scale" not in loop.stated:
            old = stated[loop.name]
            factors = dict(zip(old.independent, old.stated["scale"], strict=False))
            scale = [factors.get(name, 1.0) for name in loop.independent]
            loop = replace(loop, data=canonical({**loop.stated, "independent": loop.independent, "scale": scale}))
        loops.append(loop)
    return replace(model, loops=tuple(loops))


def body_of(model: Model, name: str) -> Body:
    """The body that a joint moves; RobotError if there is no such joint."""
    for body in model.bodies:
        if body.joint.name == name:
            return body
    near = difflib.get_close_matches(str(name), model.joint_names, n=2)
    mend = f"did you mean {' or '.join(map(shown, near))}" if near else f"`rigidc info {model.name}` lists the joints"
    raise RobotError(f"{model.name}: there is no moving joint {shown(name)}; {mend}")


def _values(model: Model, body: Body, value: float | Sequence[float]) -> tuple[float, ...]:
    """The positions of a joint, as many as it has, a quaternion of length one; RobotError otherwise."""
    words, nq = f"{model.name}: joint {shown(body.joint.name)}", body.joint.kinematics(model.convention).nq
    try:
        q = np.atleast_1d(np.asarray(value, float))
    except (TypeError, ValueError):
        raise RobotError(f"{words} cannot be locked at {shown(str(value))}; give numbers") from None
    if q.shape != (nq,):
        count = f"{nq} number{'s' if nq > 1 else ''}"
        raise RobotError(f"{words} is {body.joint.type}: it takes {count}, not {q.size}; give as many")
    if not (np.abs(q) <= LARGEST).all():
        raise RobotError(f"{words}: {q.tolist()} is not finite or beyond {LARGEST:g}; give finite numbers")
    if nq in (4, 7):
        length = float(np.linalg.norm(q[-4:]))
        if length < 1e-9:
            raise RobotError(f"{words}: a quaternion of length zero is no orientation; give one of length one")
        q = np.array([*q[:-4], *(q[-4:] / length)])
    return tuple(float(x) + 0.0 for x in q)


def _positions(model: Model, q: ArrayLike | None) -> dict[str, tuple[float, ...]]:
    """By name the positions of all joints at q (nq; by default neutral)."""
    try:
        given = np.asarray(states.neutral(model) if q is None else q, float)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (model.nq,):
        raise RobotError(f"{model.name}: q must have {model.nq} numbers, not shape {given.shape}; give one state")
    own = {
        body.joint.name: _values(model, body, given[place].tolist())
        for body, place in zip(model.bodies, model.q_slices, strict=True)
        if place.stop > place.start
    }
    return {**{name: (x,) for name, x in followed(model, _scalars(model, own)).items()}, **own}


def _scalars(model: Model, at: Mapping[str, tuple[float, ...]]) -> dict[str, float]:
    """The positions of the joints that have one coordinate."""
    types = {body.joint.name: body.joint.type for body in model.bodies}
    return {name: q[0] for name, q in at.items() if types[name] in SCALAR_JOINTS}
