"""Canonical link frames: the same robot, described so that its transforms cost least.

Every joint of one axis comes to turn about or slide along a coordinate axis of its frame, the constant
rotation between neighbours vanishes where the axes allow it (at most two turns remain), and origins slide
along joint axes where that leaves fewer offsets. Coordinates, velocities and joint forces keep their
meaning; only the frames of the bodies move, and named frames move with them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from codegen.geometry import EPSILON, ROUNDING, Inertia, Pose, axis_rotation, clean, mat3, orthonormal, times, vec3

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from codegen.model.model import Body, Model


class Canonical(NamedTuple):
    """A model in canonical frames, and where each new body frame sits in the old one."""

    model: Model
    moves: tuple[Pose, ...]

    def stated(self, b: int) -> Pose:
        """Where the old frame of body b sits in the new one."""
        return _clean_pose(self.moves[b].inverse())


def canonical(model: Model, bases: Mapping[int, Pose] | None = None, slides: bool = True) -> Canonical:
    """Re-frame every body; joint-space quantities of the result are those of `model`.

    `bases` are the frames in which floating bodies are to be followed, if not their own; joints have to follow suit.
    Origins stay where they are unless they are to slide.
    """
    return _canonical(model, tuple((bases or {}).items()), slides)


@lru_cache(maxsize=8)
def _canonical(model: Model, bases: tuple[tuple[int, Pose], ...], slides: bool) -> Canonical:
    """The same; functions of one robot ask for it many times."""
    children: dict[int, list[Body]] = {i: [] for i in range(-1, len(model.bodies))}
    for body in model.bodies:
        children[body.parent].append(body)
    moves: list[Pose] = []
    bodies: list[Body] = []
    for i, body in enumerate(model.bodies):
        seen = (moves[body.parent].inverse() if body.parent >= 0 else Pose()) @ body.placement
        move, placement = dict(bases).get(i, Pose()), seen
        if body.joint.single_axis:
            turn = aligning_turn(times(seen.R, np.array(body.joint.axis)))
            # to the last digit, or rounding would double from joint to joint
            C = orthonormal(clean(times(seen.R.T, turn)), 4.0 * EPSILON)
            move = Pose(mat3(C), vec3(_slide(body, seen, C, children[i])) if slides else Pose().translation)
            placement = seen @ move
        moves.append(move)
        axis = vec3(clean(times(move.R.T, np.array(body.joint.axis))))
        bodies.append(
            replace(
                body,
                joint=replace(body.joint, axis=axis),
                placement=Pose(mat3(clean(placement.R)), vec3(clean(placement.p))),
                inertia=_clean_inertia(body.inertia.moved(move.inverse())),
            )
        )
    frames = tuple(
        replace(frame, placement=_clean_pose(moves[frame.body].inverse() @ frame.placement))
        if frame.body >= 0
        else frame
        for frame in model.frames
    )
    return Canonical(replace(model, bodies=tuple(bodies), frames=frames), tuple(moves))


def aligning_turn(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """A rotation, of as few single-axis turns as possible, that takes some coordinate axis to +-a (unit)."""
    a = clean(a)
    k = int(np.argmax(np.abs(a)))
    i, j = (k + 1) % 3, (k + 2) % 3
    a = a if a[k] > 0 else -a
    size = math.sqrt(a[j] * a[j] + a[k] * a[k])
    return clean(times(axis_rotation(i, a[k] / size, -a[j] / size), axis_rotation(j, size, a[i])))


def _slide(body: Body, seen: Pose, C: NDArray[np.float64], children: list[Body]) -> NDArray[np.float64]:
    """Where along the joint's free directions the new origin goes, so that fewest offsets remain."""
    axis = np.array(body.joint.axis)
    if body.joint.slide:
        slide = -times(seen.R.T, seen.p)
    else:
        along = times(seen.R, axis)
        k = int(np.argmax(np.abs(along)))
        slide = axis * (-seen.p[k] / along[k])

    def offsets(move: NDArray[np.float64]) -> int:
        own = int(np.count_nonzero(clean(seen.p + times(seen.R, move))))
        return own + sum(int(np.count_nonzero(clean(times(C.T, child.placement.p - move)))) for child in children)

    still = np.zeros(3)
    return slide if offsets(slide) < offsets(still) else still


def _clean_pose(pose: Pose) -> Pose:
    return Pose(mat3(clean(pose.R)), vec3(clean(pose.p)))


def _clean_inertia(inertia: Inertia) -> Inertia:
    moment = np.array(inertia.moment)
    moment[np.abs(moment) < ROUNDING * max(float(np.trace(moment)), 1e-300)] = 0.0
    return Inertia(inertia.mass, vec3(clean(np.array(inertia.com))), mat3(moment))
