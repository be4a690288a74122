"""Kinematics for the oracle: pose, velocity, velocity-product acceleration and Jacobian of every body.

Everything is in world axes. A joint's frame (the placement) is fixed in the parent body; the joint moves the
body's frame in it. Shapes are those of one state; q and v with leading batch dimensions put these in front.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codegen.errors import RobotError
from codegen.model import ScrewJoint
from codegen.oracle import texts
from codegen.oracle.batches import apply, numbers
from codegen.oracle.rotations import about, cross, cross_matrix, matrix, scalar_last

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from codegen.geometry import Pose
    from codegen.model import Frame, Joint, Model

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Motion:
    """How a frame moves in the world, at zero joint accelerations (`acceleration`, `angular_acceleration`).

    R (3, 3), p (3): pose. velocity, acceleration (3): of the frame's origin. angular_velocity,
    angular_acceleration (3). linear, angular (3, nv): Jacobians of the origin's and the angular velocity.
    """

    R: Array
    p: Array
    velocity: Array
    angular_velocity: Array
    acceleration: Array
    angular_acceleration: Array
    linear: Array
    angular: Array

    def at(self, pose: Pose) -> Motion:
        """The motion of a frame that is welded to this one at `pose`."""
        return self.welded(self.R @ pose.R, self.p + apply(self.R, pose.p))

    def welded(self, R: Array, p: Array) -> Motion:
        """The motion of a frame that is welded to this one and now has the world pose (R, p)."""
        r, w = p - self.p, self.angular_velocity
        return Motion(
            R=R,
            p=p,
            velocity=self.velocity + cross(w, r),
            angular_velocity=w,
            acceleration=self.acceleration + cross(self.angular_acceleration, r) + cross(w, cross(w, r)),
            angular_acceleration=self.angular_acceleration,
            linear=self.linear - cross_matrix(r) @ self.angular,
            angular=self.angular,
        )


def world(nv: int, batch: tuple[int, ...] = ()) -> Motion:
    """The motion of the world: none."""
    zero, none = np.zeros((*batch, 3)), np.zeros((*batch, 3, nv))
    return Motion(np.broadcast_to(np.eye(3), (*batch, 3, 3)), zero, zero, zero, zero, zero, none, none)


@dataclass(frozen=True, slots=True)
class Relative:
    """How a joint moves its body in the joint frame, all in that frame's axes.

    R, p: pose. linear, angular (3, nv of the joint): the velocities are these times v. linear_drift (3): the
    time derivative of `linear` times v. (That of `angular` times v is zero for every joint here: the
    angular velocity is about a fixed axis, or is constant in the moving axes when v is, and
    d(R w)/dt = R (w x w) = 0.)
    """

    R: Array
    p: Array
    linear: Array
    angular: Array
    linear_drift: Array


def relative(joint: Joint, convention: str, q: Array, v: Array) -> Relative:
    """The motion of `joint` at its own positions q and velocities v."""
    fixed, still, eye = np.eye(3), np.zeros(3), np.eye(3)
    axis = np.asarray(joint.axis, float).reshape(3, 1)
    axis = axis / np.linalg.norm(axis)
    if joint.type == "revolute":
        return Relative(about(axis.ravel(), q[..., 0]), still, 0.0 * axis, axis, still)
    if joint.type == "prismatic":
        return Relative(fixed, q[..., :1] * axis[:, 0], axis, 0.0 * axis, still)
    if isinstance(joint, ScrewJoint):
        return _screw(joint, axis, q, v)
    if joint.type == "spherical":
        R = matrix(scalar_last(q, convention))
        return Relative(R, still, np.zeros((3, 3)), R, still)
    moving_axes = convention == "pinocchio"  # those of the linear velocity of planar and floating joints
    if joint.type == "planar":
        R = about([0.0, 0.0, 1.0], q[..., 2])
        columns = (R if moving_axes else eye) @ np.diag([1.0, 1.0, 0.0])
        drift = cross(v * [0.0, 0.0, 1.0], apply(columns, v)) if moving_axes else still
        return Relative(R, q * [1.0, 1.0, 0.0], columns, np.diag([0.0, 0.0, 1.0]), drift)
    if joint.type == "floating":
        R = matrix(scalar_last(q[..., 3:], convention))
        columns = (R if moving_axes else eye) @ np.eye(3, 6)
        drift = cross(apply(R, v[..., 3:]), apply(columns, v)) if moving_axes else still
        return Relative(R, q[..., :3], columns, R @ np.eye(3, 6, 3), drift)
    raise RobotError(f"joint {joint.name!r}: the oracle has no formula for the type {joint.type!r}; add it here")


STEP, WEIGHTS = 0.01, (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # of central differences of the eighth order


def _screw(joint: ScrewJoint, axis: Array, q: Array, v: Array) -> Relative:
    """A screw: slopes of its formulas by the complex step, of these slopes by differences."""

    def at(text: str, q: Array) -> tuple[Array, Array]:
        value = texts.value(text, {"q": np.asarray(q + 1e-30j, complex)}) + 0.0 * q
        return np.asarray(np.real(value)), np.asarray(np.imag(value) / 1e-30)

    x = q[..., 0]
    (angle, turning), (place, sliding) = at(joint.turns_by, x), at(joint.slides_by, x)
    bend = sum(
        weight * (at(joint.slides_by, x + n * STEP)[1] - at(joint.slides_by, x - n * STEP)[1]) / STEP
        for n, weight in enumerate(WEIGHTS, 1)
    )
    linear, angular = (axis * slope[..., None, None] for slope in (sliding, turning))
    drift = axis[:, 0] * (bend * v[..., 0] ** 2)[..., None]
    return Relative(about(axis.ravel(), angle), place[..., None] * axis[:, 0], linear, angular, drift)


def motions(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> list[Motion]:
    """The motion of every body's frame at positions q (..., nq) and velocities v (..., nv; default: rest)."""
    q = numbers(q)
    v = np.zeros(model.nv) if v is None else numbers(v)
    still = world(model.nv, np.broadcast_shapes(q.shape[:-1], v.shape[:-1]))
    moving: list[Motion] = []
    for body, i, j in zip(model.bodies, model.q_slices, model.v_slices, strict=True):
        parent = moving[body.parent] if body.parent >= 0 else still
        joint = relative(body.joint, model.convention, q[..., i], v[..., j])
        moving.append(_carried(parent.at(body.placement), joint, j, v[..., j]))
    return moving


def _carried(base: Motion, joint: Relative, columns: slice, v: Array) -> Motion:
    """The motion of a body whose joint frame moves with `base` and whose joint moves by `joint`."""
    sliding, turning = base.R @ joint.linear, base.R @ joint.angular
    at = base.welded(base.R @ joint.R, base.p + apply(base.R, joint.p))
    kind = np.result_type(at.linear, sliding, at.angular, turning)
    linear, angular = at.linear.astype(kind), at.angular.astype(kind)
    linear[..., columns] += sliding
    angular[..., columns] += turning
    w, slide, turn = base.angular_velocity, apply(sliding, v), apply(turning, v)
    return Motion(
        R=at.R,
        p=at.p,
        velocity=at.velocity + slide,
        angular_velocity=w + turn,
        acceleration=at.acceleration + 2.0 * cross(w, slide) + apply(base.R, joint.linear_drift),
        angular_acceleration=at.angular_acceleration + cross(w, turn),
        linear=linear,
        angular=angular,
    )


def frame_motion(model: Model, moving: Sequence[Motion], frame: Frame) -> Motion:
    """The motion of a named frame, on a body or on the world."""
    carrier = moving[frame.body] if frame.body >= 0 else world(model.nv, moving[0].p.shape[:-1] if moving else ())
    return carrier.at(frame.placement)


def fk(model: Model, q: ArrayLike, v: ArrayLike, *, frames: Sequence[str]) -> tuple[Array, Array, Array]:
    """Positions (k, 3), rotations (k, 3, 3; columns: the frame's axes), velocities (k, 6) of `frames`."""
    moving = motions(model, q, v)
    at = [frame_motion(model, moving, model.frame(name)) for name in frames]
    velocities = [np.concatenate([m.velocity, m.angular_velocity], axis=-1) for m in at]
    return np.stack([m.p for m in at], axis=-2), np.stack([m.R for m in at], axis=-3), np.stack(velocities, axis=-2)


def jacobian(model: Model, q: ArrayLike, *, frames: Sequence[str]) -> Array:
    """Jacobians (k, 6, nv), rows [linear; angular], of the origins of `frames`."""
    moving = motions(model, q)
    at = [frame_motion(model, moving, model.frame(name)) for name in frames]
    return np.stack([np.concatenate([m.linear, m.angular], axis=-2) for m in at], axis=-3)
