"""Frame of a floating base: any on the body will do, and some cost less than others.

A base that moves freely has the same dynamics wherever on it a frame stands and however that is turned; velocities and
forces change coordinates on their way in, accelerations on their way out.

- Its origin goes where fewest offsets remain to what the base carries.
- Limbs that are alike are computed in step (`codegen.packing`): their offsets count once, and more than two of them
  keep offsets along the same axes.
- What a hinge transmits has no moment about its axis. An axis of the frame that lies on the hinge, first among the
  base's motions, so leaves zeros in all that the factors of the base's inertia make of forces from beyond; in factors
  that begin with the last row, as those of the joint-space inertia matrix, it goes last.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from casadi import SX

from codegen import costs
from codegen.geometry import ROUNDING, Pose, clean, mat3, vec3
from codegen.lowering.reframed_base import ReframedBase

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.lowering.problem import Problem
    from codegen.model import Contact, Model

NEVER = 10**9


def coordinate_axis(direction: NDArray[np.float64]) -> int:
    """The number of the coordinate axis along which a direction is, forwards or backwards; -1 if along none."""
    along = clean(direction)
    return int(np.argmax(np.abs(along))) if np.count_nonzero(along) == 1 else -1


class Limb(NamedTuple):
    """What a base carries on one body: where, axis k if it is a free hinge along one (else -1), freedoms, held rows."""

    p: NDArray[np.float64]
    axis: int
    freedoms: int
    rows: int


def base_frame(problem: Problem) -> Problem:
    """The step: velocities and forces of the base change coordinates on their way in, accelerations on the way out."""
    needs = problem.request.needs
    if not needs.base_frame:
        return problem
    bases = based(problem.model, problem.contacts, needs.joint_space, "v" in problem.arguments)
    inwards = {"v": ReframedBase.motion, "tau": ReframedBase.force, "a": ReframedBase.motion}
    changed = partial(_recoordinated, problem.model, problem.q, bases)
    own = {name: changed(inwards[name], x) for name, x in problem.arguments.items() if name in inwards}
    outwards = {"a": partial(changed, ReframedBase.outwards)}
    return replace(
        problem.found(bases=bases), arguments={**problem.arguments, **own}, restores=(*problem.restores, outwards)
    )


def based(model: Model, contacts: Sequence[Contact], joint_space: bool, moves: bool) -> dict[int, ReframedBase]:
    """By bodies that float in the world, the joints that follow the cheapest frame, where that is not their own.

    With `joint_space` for algorithms that factorise the joint-space inertia matrix; with `moves` velocities and forces
    have to change coordinates. Left alone are armatures, which belong to coordinates, and linear velocities along the
    world's axes (`mujoco`).
    """
    if moves and model.convention != "pinocchio":
        return {}
    found, alone = {}, {node.bodies[0] for node in model.nodes if len(node.bodies) == 1}
    for b, body in enumerate(model.bodies):
        if b in alone and body.joint.free and body.parent < 0 and not body.joint.armature:
            pose = _cheapest(tuple(_limbs(model, b, alone, contacts)), joint_space, moves)
            if pose is not None:
                found[b] = ReframedBase(model.joints[b], pose, joint_space)
    return found


def _recoordinated(
    model: Model, q: SX, bases: Mapping[int, ReframedBase], change: Callable[[ReframedBase, SX, SX], SX], x: SX
) -> SX:
    """A joint-space vector (nv), with the coordinates of the bases changed."""
    x = SX(x)
    for b, joint in bases.items():
        own = model.v_slices[b]
        x[own] = change(joint, q[model.q_slices[b]], x[own])
    return x


def _limbs(model: Model, base: int, alone: Collection[int], contacts: Sequence[Contact]) -> Iterable[Limb]:
    """What the base carries; the joints of bodies `alone` in their nodes are in no loop."""
    held = [(model.frame(contact.frame.name).body, len(contact.rows)) for contact in contacts]
    for c, body in enumerate(model.bodies):
        if body.parent == base:
            beyond = {c}
            for d, other in enumerate(model.bodies):
                if other.parent in beyond:
                    beyond.add(d)
            hinge = body.joint.hinge and c in alone and not body.joint.armature
            k = coordinate_axis(body.placement.R @ np.array(body.joint.axis)) if hinge else -1
            freedoms = sum(model.joints[d].nv for d in beyond)
            yield Limb(body.placement.p, k, freedoms, sum(rows for d, rows in held if d in beyond))


def _cheapest(limbs: Sequence[Limb], joint_space: bool, moves: bool) -> Pose | None:
    """Where the base's frame costs least, if not where it is."""
    last = 2 if joint_space else 0
    places = [sorted({0.0, *(float(limb.p[n]) for limb in limbs)}, key=lambda x: (abs(x), x)) for n in range(3)]
    far = [np.abs(np.subtract.outer([limb.p[n] for limb in limbs], places[n])) > ROUNDING for n in range(3)]
    alike = [[n for n, other in enumerate(limbs) if other[1:3] == limb[1:3]] for limb in limbs]
    offset = _per_offset(limbs, alike, joint_space)
    away = [offset @ far[n] + costs.BASE_MOTION * moves * (np.array(places[n]) != 0.0) for n in range(3)]
    # by places along x, y, z: what offsets cost, less what zeros of the limbs whose hinges lie on axis k save
    cost = np.array([np.add.outer(np.add.outer(away[0], away[1]), away[2])] * 3)
    stays = _at_home(cost[last, 0, 0, 0], limbs, far) if joint_space else cost[last, 0, 0, 0]
    _save_on_hinges(cost, limbs, far, joint_space)
    _forbid_mixed(cost, far, alike)
    if cost.min() >= stays:
        return None
    k, *at = (int(n) for n in np.unravel_index(np.argmin(cost), cost.shape))
    turn = np.eye(3)[:, [(k + n - last) % 3 for n in range(3)]]
    return Pose(mat3(turn), vec3([places[n][at[n]] for n in range(3)]))


def _per_offset(limbs: Sequence[Limb], alike: Sequence[Sequence[int]], joint_space: bool) -> list[float]:
    """By limbs, what an offset along one axis costs; of those that are alike each its part."""
    return [
        (costs.INERTIA + costs.SHIFT * (limb.freedoms if joint_space else limb.rows)) / len(own)
        for limb, own in zip(limbs, alike, strict=True)
    ]


def _save_on_hinges(
    cost: NDArray[np.float64], limbs: Sequence[Limb], far: Sequence[NDArray[np.bool_]], joint_space: bool
) -> None:
    """Take from the costs what zeros save where an axis of the frame lies on a limb's hinge."""
    m = sum(limb.rows for limb in limbs)
    for n, limb in enumerate(limbs):
        if limb.axis >= 0:
            saved = costs.last_row(limb.freedoms) if joint_space else costs.first_row(limb.rows, m)
            there = _on_hinge(limb, [rows[n] for rows in far])
            cost[limb.axis] -= saved * there
            if not joint_space:  # the axis before the limb's as the first, its own as the second
                cost[(limb.axis + 2) % 3] -= costs.second_row(limb.rows) * there


def _at_home(cost: float, limbs: Sequence[Limb], far: Sequence[NDArray[np.bool_]]) -> float:
    """For the joint-space inertia matrix, what the base's own frame costs: less what hinges on its z axis save."""
    for n, limb in enumerate(limbs):
        if limb.axis == 2 and _on_hinge(limb, [rows[n] for rows in far])[0, 0, 0]:
            cost -= costs.last_row(limb.freedoms)
    return cost


def _on_hinge(limb: Limb, far: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Which places are on the limb's hinge; `far` are, by axes, those that are not where the limb is."""
    on = [np.ones(len(far[k]), bool) if k == limb.axis else ~far[k] for k in range(3)]
    return np.asarray(np.multiply.outer(np.multiply.outer(on[0], on[1]), on[2]))


def _forbid_mixed(cost: NDArray[np.float64], far: Sequence[NDArray[np.bool_]], alike: Iterable[Sequence[int]]) -> None:
    """Rule out places where more than two limbs that are alike would keep offsets along different axes."""
    for own in alike:
        if len(own) > costs.LIKE_LIMBS:
            mixed = [far[k][own].any(axis=0) != far[k][own].all(axis=0) for k in range(3)]
            cost[:, mixed[0], :, :] = cost[:, :, mixed[1], :] = cost[:, :, :, mixed[2]] = NEVER
