"""Reflected rotors: a robot without the bodies that its loops drive, which it feels as armature only.

The approximation of Chignoli et al. (arXiv 2311.13732), sec. II-C: a driven body (a rotor) is left out, and its
inertia about its own axis, seen through the gear ratio, is added to the diagonal of the inertia matrix. Unconstrained
algorithms (sec. II-C) leave it out altogether.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codegen.errors import UnsuitedError
from codegen.geometry import times
from codegen.lowering.differentials import geared
from codegen.spatial import constant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codegen.lowering.problem import Problem
    from codegen.model import Body, Frame, Model


def reflect_rotors(problem: Problem) -> Problem:
    """The step: of algorithms that know rotors as armature only, or not at all.

    Velocities and forces of a differential's rotors become those of what it drives on their way in, and accelerations
    and forces become the rotors' on their way out.
    """
    rotors = problem.request.needs.rotors
    if rotors == "bodies" or not problem.model.loops:
        return problem
    model, B = geared(problem.model)
    problem = problem.of(independent(model, rotors == "armature"))
    _check_frames(problem)
    if np.array_equal(B, np.eye(len(B))):
        return problem
    forwards, backwards = constant(B), constant(np.linalg.inv(B))
    inwards = {"v": forwards, "a": forwards, "tau": backwards.T}
    own = {name: inwards[name] @ x for name, x in problem.arguments.items() if name in inwards}
    outwards = {"a": lambda a: backwards @ a, "tau": lambda tau: forwards.T @ tau}
    return replace(problem, arguments={**problem.arguments, **own}, restores=(*problem.restores, outwards))


def independent(model: Model, armature: bool = True) -> Model:
    """The tree of the independent joints, with reflected inertias as armature, if wanted; a tree comes back as it is.

    UnsuitedError if armature has to stand for what a loop drives that is no gear (it has no constant ratios), or if a
    loop drives a body that carries an independent one, for then no independent tree exists.
    """
    if not model.loops:
        return model
    own = [b for bodies in model.velocity_bodies for b in bodies]
    number = {b: n for n, b in enumerate(own)} | {-1: -1}
    _check(model, number, armature)
    offset = reflected(model) if armature else {}
    return replace(
        model,
        bodies=tuple(_kept(model.bodies[b], number, offset.get(b, 0.0)) for b in own),
        nodes=tuple(
            replace(node, bodies=(n,), parent=number[model.bodies[b].parent], loops=())
            for n, b in enumerate(own)
            for node in [next(node for node in model.nodes if b in node.bodies)]
        ),
        frames=tuple(_frame(frame, number) for frame in model.frames if frame.body in number),
        loops=(),
    )


def _check(model: Model, number: Mapping[int, int], armature: bool) -> None:
    """UnsuitedError unless independent bodies, those in `number`, hang on one another, and loops are gears."""
    for loop in model.loops if armature else ():
        if loop.kind != "linear":
            raise UnsuitedError(
                f"{model.name}: loop {loop.name!r} has no constant gear ratios; the approximate algorithms do not apply"
            )
    for b in number:
        if b >= 0 and model.bodies[b].parent not in number:
            raise UnsuitedError(
                f"{model.name}: body {model.bodies[b].name!r} is independent but hangs on one that a loop drives; "
                "the approximate algorithms do not apply"
            )


def _check_frames(problem: Problem) -> None:
    """UnsuitedError for a frame on a body that is left out."""
    asked = (*problem.request.external, *(contact.frame.name for contact in problem.contacts))
    known = {frame.name for frame in problem.model.frames}
    for name in asked:
        if name not in known:
            raise UnsuitedError(
                f"{problem.model.name}: frame {name!r} is on a rotor, which the approximate algorithms leave out; name "
                "a frame of a link"
            )


def reflected(model: Model) -> dict[int, float]:
    """By independent body: the driven bodies' inertias about their own axes, through the squared gear ratios."""
    number = {body.joint.name: b for b, body in enumerate(model.bodies)}
    offset: dict[int, float] = {}
    for name, ratios in _ratios(model).items():
        body = model.bodies[number[name]]
        axis = np.array(body.joint.axis)
        about = body.inertia.about_origin if body.joint.hinge else body.inertia.mass * np.eye(3)
        inertia = float(axis @ times(about, axis)) + body.joint.armature
        for leader, ratio in ratios.items():
            offset[number[leader]] = offset.get(number[leader], 0.0) + ratio * ratio * inertia
    return offset


def _ratios(model: Model) -> dict[str, dict[str, float]]:
    """By driven joints: their rates per unit rate of each independent joint, through all gears between them."""
    gears = {
        name: dict(zip(loop.stated["independent"], row, strict=True))
        for loop in model.loops
        for name, row in zip(loop.stated["dependent"], loop.stated["matrix"], strict=True)
    }

    def rates(name: str) -> dict[str, float]:
        if name not in gears:
            return {name: 1.0}
        found: dict[str, float] = {}
        for leader, ratio in gears[name].items():
            for first, more in rates(leader).items():
                found[first] = found.get(first, 0.0) + ratio * more
        return found

    return {name: rates(name) for name in gears}


def _kept(body: Body, number: dict[int, int], armature: float) -> Body:
    joint = replace(body.joint, armature=body.joint.armature + armature)
    return replace(body, parent=number[body.parent], joint=joint)


def _frame(frame: Frame, number: dict[int, int]) -> Frame:
    return replace(frame, body=number[frame.body])
