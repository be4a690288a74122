"""Loop constraints for the oracle: how far a loop is from closed, its Jacobian, and how that turns as joints move.

Everything is a residual of the positions of all joints (those of the spanning tree), evaluated at complex numbers:
the complex step gives Jacobians exactly. Positions and rates are mappings from body to its joint's coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.errors import RobotError
from codegen.geometry import Pose, mat3, vec3
from codegen.oracle.kinematics import relative
from codegen.oracle.rotations import matrix, multiply, scalar_last, stored
from codegen.oracle.texts import value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.model import Joint, Loop, Model

    Array = NDArray[Any]
    ByBody = Mapping[int, Array]

STEP = 1e-30
SPACING = 2e-3  # of the central differences that differentiate Jacobians along a motion
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
        data = self.data
        if self.loop.kind == "linear":
            leaders = np.array([at[self.number[name]][0] for name in data["independent"]])
            followers = np.array([at[self.number[name]][0] for name in data["dependent"]])
            factors = np.array(data["matrix"], float).reshape(len(followers), len(leaders))
            return np.asarray(followers - factors @ leaders - np.array(data.get("offset", 0.0)))
        if self.loop.kind == "coupling":
            sums = [
                sum(at[b][0] for b in carriers(self.model, self.model.frame(data[side]).body) if b in self.bodies)
                for side in ("predecessor", "successor")
            ]
            return np.array([data["ratio"] * sums[0] - sums[1]])
        if self.loop.kind == "closure":
            return _closure(self.model, data, at)
        known = {name: complex(at[self.number[joint]][0]) for name, joint in data["variables"].items()}
        if "implicit" in data:
            return np.array([value(text, known) for text in data["implicit"]])
        return np.array([at[self.number[joint]][0] - value(text, known) for joint, text in data["explicit"].items()])

    def slope(self, at: ByBody, v: ByBody) -> Array:
        """The rate of the residual at joint velocities v; bodies without one rest."""
        moved = dict(at)
        for b, rate in v.items():
            joint, convention = self.model.bodies[b].joint, self.model.convention
            moved[b] = at[b] + 1j * STEP * rates(joint, convention, at[b], rate)
        return np.asarray(np.imag(self.residual(moved)) / STEP)

    def jacobian(self, at: ByBody) -> dict[int, Array]:
        """K by bodies: (rows, velocities of the body's joint)."""
        units = ((b, np.eye(width)) for b, width in zip(self.bodies, self.widths, strict=True))
        return {b: np.stack([self.slope(at, {b: unit}) for unit in eye], axis=1) for b, eye in units}

    def bend(self, at: ByBody, v: ByBody) -> Array:
        """k = -(dK/dt) qdot: the right-hand side of K qddot = k at joint velocities v."""
        own = {b: v[b] for b in self.bodies}
        ways = {b: rates(self.model.bodies[b].joint, self.model.convention, at[b], rate) for b, rate in own.items()}

        def later(t: float) -> Array:
            return self.slope({b: at[b] + t * way for b, way in ways.items()}, own)

        steps = [(weight, n * SPACING) for n, weight in enumerate(WEIGHTS, 1)]
        return np.asarray(-np.sum([weight * (later(t) - later(-t)) for weight, t in steps], axis=0) / SPACING)


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
    paths = [carriers(model, frame.body) for frame in frames]
    shared = set(paths[0]) & set(paths[1])
    seen = []
    for frame, path, side in zip(frames, paths, sides, strict=True):
        R, p = np.eye(3), np.zeros(3)
        for b in reversed([b for b in path if b not in shared]):
            R, p = _moved(model, b, at[b], R, p)
        turn, place = data[side].get("rotation", np.eye(3)), data[side].get("translation", (0.0, 0.0, 0.0))
        end = frame.placement @ Pose(mat3(turn), vec3(place))
        seen.append((R @ end.R, p + R @ end.p))
    (R1, p1), (R2, p2) = seen
    gap = (p1 - p2)[[int(n) for n in data.get("components", (0, 1, 2))]]
    if data["type"] == "point":
        return np.asarray(gap)
    if data["type"] == "hinge":
        axis = np.array(data.get("axis", (1.0, 0.0, 0.0)), float)
        return np.append(gap, np.cross(R1 @ axis, R2 @ axis))
    turned = R1.T @ R2 - R2.T @ R1
    return np.append(gap, [turned[2, 1], turned[0, 2], turned[1, 0]])


def _moved(model: Model, b: int, q: Array, R: Array, p: Array) -> tuple[Array, Array]:
    """The pose of body b, whose carrier has the pose (R, p)."""
    body = model.bodies[b]
    joint = relative(body.joint, model.convention, q, np.zeros(3 if body.joint.type == "planar" else 6))
    return R @ body.placement.R @ joint.R, p + R @ (body.placement.p + body.placement.R @ joint.p)


def rates(joint: Joint, convention: str, q: Array, v: Array) -> Array:
    """How fast the coordinates of a joint change at its velocity v."""
    if joint.type in ("revolute", "prismatic"):
        return v
    if joint.type == "spherical":
        return _turning(q, v, convention)
    moving = convention == "pinocchio"
    if joint.type == "planar":
        R = np.array([[np.cos(q[2]), -np.sin(q[2])], [np.sin(q[2]), np.cos(q[2])]])
        return np.append(R @ v[:2] if moving else v[:2], v[2])
    R = matrix(scalar_last(q[3:], convention))
    return np.append(R @ v[:3] if moving else v[:3], _turning(q[3:], v[3:], convention))


def _turning(quaternion: Array, w: Array, convention: str) -> Array:
    return stored(multiply(scalar_last(quaternion, convention), np.append(w, 0.0)) / 2.0, convention)


def spanning_positions(model: Model, tied: Sequence[Tie], q: Array) -> dict[int, Array]:
    """The positions of all joints: those of q, and by Newton's method those that explicit loops give."""
    places = model.q_slices
    driven = {b: n for n, b in enumerate(b for b, place in enumerate(places) if place.stop == place.start)}
    at = {b: np.zeros(1) if b in driven else np.array(q[place], float) for b, place in enumerate(places)}
    explicit = [tie for tie in tied if tie.loop.explicit]
    for _ in range(len(driven) + 1 if driven else 0):
        gaps = np.concatenate([tie.residual(at).real for tie in explicit])
        if len(gaps) != len(driven):
            raise RobotError(f"{model.name}: {len(gaps)} explicit constraints give {len(driven)} joints")
        K, row = np.zeros((len(gaps), len(driven))), 0
        for tie in explicit:
            blocks = tie.jacobian(at)
            for b in driven.keys() & blocks.keys():
                K[row : row + len(blocks[b]), driven[b]] = blocks[b][:, 0]
            row += len(blocks[tie.bodies[0]])
        step = np.linalg.solve(K, gaps)
        at |= {b: at[b] - step[n] for b, n in driven.items()}
        if np.abs(step).max() < 1e-15:
            break
    return at
