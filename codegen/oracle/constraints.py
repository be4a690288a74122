"""Loop constraints for the oracle: how far a loop is from closed, its Jacobian, and how that turns as joints move.

Everything is a residual of the positions of all joints (those of the spanning tree), evaluated at complex numbers:
the complex step gives Jacobians exactly. Positions and rates are mappings from body to its joint's coordinates, the
last axis; leading ones are batches of states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.errors import RobotError
from codegen.geometry import Pose, mat3, vec3
from codegen.oracle.batches import apply, joined, solved
from codegen.oracle.kinematics import relative
from codegen.oracle.rotations import about, cross, matrix, multiply, scalar_last, stored
from codegen.oracle.texts import value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.model import Joint, Loop, Model

    Array = NDArray[Any]
    ByBody = Mapping[int, Array]

STEP = 1e-30
SPACING = 1e-2  # of the central differences that differentiate Jacobians along a motion
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


@dataclass(frozen=True, slots=True)
class Tie:
    """A loop of a model, with its data read and the bodies whose joints it ties."""

    model: Model
    loop: Loop
    data: dict[str, Any]
    number: Mapping[str, int]
    bodies: tuple[int, ...]
    widths: tuple[int, ...]

    def residual(self, at: ByBody) -> Array:
        """What vanishes when the loop is closed; rows may be redundant."""
        data, angle = self.data, {self.model.bodies[b].joint.name: at[b][..., 0] for b in self.bodies}
        if self.loop.kind == "linear":
            leaders = np.stack([angle[name] for name in data["independent"]], axis=-1)
            followers = np.stack([angle[name] for name in data["dependent"]], axis=-1)
            factors = np.array(data["matrix"], float).reshape(followers.shape[-1], leaders.shape[-1])
            return np.asarray(followers - apply(factors, leaders) - np.array(data.get("offset", 0.0)))
        if self.loop.kind == "coupling":
            sums = [
                sum(at[b][..., 0] for b in carriers(self.model, self.model.frame(data[side]).body) if b in self.bodies)
                for side in ("predecessor", "successor")
            ]
            return np.asarray(data["ratio"] * sums[0] - sums[1])[..., None]
        if self.loop.kind == "closure":
            return _closure(self.model, data, at)
        known = {name: angle[joint] + 0j for name, joint in data["variables"].items()}
        if "implicit" in data:
            return np.stack([value(text, known) for text in data["implicit"]], axis=-1)
        return np.stack([angle[joint] - value(text, known) for joint, text in data["explicit"].items()], axis=-1)

    def slope(self, at: ByBody, v: ByBody) -> Array:
        """The rate of the residual at joint velocities v; bodies without one rest."""
        moved = dict(at)
        for b, rate in v.items():
            joint, convention = self.model.bodies[b].joint, self.model.convention
            moved[b] = at[b] + 1j * STEP * rates(joint, convention, at[b], rate)
        return np.asarray(np.imag(self.residual(moved)) / STEP)

    def jacobian(self, at: ByBody) -> dict[int, Array]:
        """K by bodies: (rows, velocities of the body's joint); all columns at once, as one more batch of states."""
        n, batch, ends = sum(self.widths), at[self.bodies[0]].shape[:-1], np.cumsum(self.widths)
        units = np.broadcast_to(np.eye(n).reshape(n, *[1] * len(batch), n), (n, *batch, n))
        own = dict(zip(self.bodies, np.split(units, ends[:-1], axis=-1), strict=True))
        columns = np.moveaxis(self.slope(at, own), 0, -1)
        return dict(zip(self.bodies, np.split(columns, ends[:-1], axis=-1), strict=True))

    def bend(self, at: ByBody, v: ByBody) -> Array:
        """k = -(dK/dt) qdot: the right-hand side of K qddot = k at joint velocities v.

        It goes with the square of v, and is taken at velocities of one at most, as differences are of short ways.
        """
        rated = np.concatenate([np.abs(v[b]) for b in self.bodies], axis=-1)
        size = np.maximum(1.0, rated.max(axis=-1, keepdims=True, initial=0.0))
        own = {b: v[b] / size for b in self.bodies}
        ways = {b: rates(self.model.bodies[b].joint, self.model.convention, at[b], rate) for b, rate in own.items()}

        def later(t: float) -> Array:
            return self.slope({b: at[b] + t * way for b, way in ways.items()}, own)

        steps = [(weight, n * SPACING) for n, weight in enumerate(WEIGHTS, 1)]
        slopes = np.sum([weight * (later(t) - later(-t)) for weight, t in steps], axis=0)
        return np.asarray(-slopes * size**2 / SPACING)


def ties(model: Model) -> tuple[Tie, ...]:
    """The loops of a model."""
    number = {name: b for b, name in enumerate(model.joint_names)}
    joints, found = model.joints, []
    for loop in model.loops:
        bodies = tuple(number[name] for name in loop.joints)
        found.append(Tie(model, loop, loop.stated, number, bodies, tuple(joints[b].nv for b in bodies)))
    return tuple(found)


def carriers(model: Model, b: int) -> list[int]:
    """Body b and those that carry it, up to the root."""
    found = []
    while b >= 0:
        found.append(b)
        b = model.bodies[b].parent
    return found


def _closure(model: Model, data: dict[str, Any], at: ByBody) -> Array:
    """Two frames in the axes of the closest body that carries both: the gap, and how they are turned."""
    sides = ("predecessor", "successor")
    frames = [model.frame(data[side]["link"]) for side in sides]
    paths, batch = [carriers(model, frame.body) for frame in frames], next(iter(at.values())).shape[:-1]
    shared = set(paths[0]) & set(paths[1])
    seen = []
    for frame, path, side in zip(frames, paths, sides, strict=True):
        R, p = np.broadcast_to(np.eye(3), (*batch, 3, 3)), np.zeros((*batch, 3))
        for b in reversed([b for b in path if b not in shared]):
            R, p = _moved(model, b, at[b], R, p)
        turn, place = data[side].get("rotation", np.eye(3)), data[side].get("translation", (0.0, 0.0, 0.0))
        end = frame.placement @ Pose(mat3(turn), vec3(place))
        seen.append((R @ end.R, p + apply(R, end.p)))
    (R1, p1), (R2, p2) = seen
    gap = (p1 - p2)[..., [int(n) for n in data.get("components", (0, 1, 2))]]
    if data["type"] == "point":
        return np.asarray(gap)
    if data["type"] == "hinge":
        axis = np.array(data.get("axis", (1.0, 0.0, 0.0)), float)
        return np.concatenate([gap, cross(R1 @ axis, R2 @ axis)], axis=-1)
    turned = np.swapaxes(R1, -1, -2) @ R2 - np.swapaxes(R2, -1, -2) @ R1
    return np.concatenate([gap, turned[..., [2, 0, 1], [1, 2, 0]]], axis=-1)


def _moved(model: Model, b: int, q: Array, R: Array, p: Array) -> tuple[Array, Array]:
    """The pose of body b, whose carrier has the pose (R, p)."""
    body = model.bodies[b]
    joint = relative(body.joint, model.convention, q, np.zeros(3 if body.joint.type == "planar" else 6))
    return R @ body.placement.R @ joint.R, p + apply(R, body.placement.p + joint.p @ body.placement.R.T)


def rates(joint: Joint, convention: str, q: Array, v: Array) -> Array:
    """How fast the coordinates of a joint change at its velocity v."""
    if joint.type in ("revolute", "prismatic", "screw"):
        return v
    if joint.type == "spherical":
        return _turning(q, v, convention)
    moving = convention == "pinocchio"
    if joint.type == "planar":
        return apply(about([0.0, 0.0, 1.0], q[..., 2]), v) if moving else v
    R = matrix(scalar_last(q[..., 3:], convention)) if moving else np.eye(3)
    turning = _turning(q[..., 3:], v[..., 3:], convention)
    return joined([apply(R, v[..., :3]), turning], turning.shape[:-1])


def _turning(quaternion: Array, w: Array, convention: str) -> Array:
    spin = np.concatenate([w, np.zeros((*w.shape[:-1], 1))], axis=-1)
    return stored(multiply(scalar_last(quaternion, convention), spin) / 2.0, convention)


def spanning_positions(model: Model, tied: Sequence[Tie], q: Array) -> dict[int, Array]:
    """The positions of all joints: those of q, and by Newton's method those that explicit loops give."""
    places, batch = model.q_slices, q.shape[:-1]
    driven = {b: n for n, b in enumerate(b for b, place in enumerate(places) if place.stop == place.start)}
    at = {b: np.zeros((*batch, 1)) if b in driven else q[..., place] for b, place in enumerate(places)}
    explicit = [tie for tie in tied if tie.loop.explicit]
    for _ in range(len(driven) + 1 if driven else 0):
        gaps = joined([tie.residual(at).real for tie in explicit], batch)
        rows = gaps.shape[-1]
        if rows != len(driven):
            raise RobotError(f"{model.name}: {rows} explicit constraints give {len(driven)} joints")
        step = solved(_explicit_jacobian(explicit, at, driven, batch), gaps)
        at |= {b: at[b] - step[..., n : n + 1] for b, n in driven.items()}
        if np.abs(step).max() < 1e-15:
            break
    return at


def _explicit_jacobian(explicit: Sequence[Tie], at: ByBody, driven: Mapping[int, int], batch: tuple[int, ...]) -> Array:
    """The Jacobian of explicit loops with respect to driven joints, as many, which stand at these places."""
    K, row = np.zeros((*batch, len(driven), len(driven))), 0
    for tie in explicit:
        blocks = tie.jacobian(at)
        height = blocks[tie.bodies[0]].shape[-2]
        for b in driven.keys() & blocks.keys():
            K[..., row : row + height, driven[b]] = blocks[b][..., 0]
        row += height
    return K
