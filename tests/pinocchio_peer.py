"""Our arguments as Pinocchio's, and Pinocchio's answers in our shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from opcount.bench.pinocchio_model import inertia, pinocchio_model, se3

__all__ = [
    "frame_outputs",
    "inertia",
    "joint_wrenches",
    "of_tips",
    "own_positions",
    "pinocchio_model",
    "positions",
    "se3",
]

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Model


def positions(model: Model, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Our q as Pinocchio's: the angle of a planar joint becomes its cosine and sine."""
    parts = []
    for body, i in zip(model.bodies, model.q_slices, strict=True):
        planar = body.joint.type == "planar"
        parts.append(np.append(q[i][:2], [np.cos(q[i][2]), np.sin(q[i][2])]) if planar else q[i])
    return np.concatenate(parts)


def own_positions(model: Model, q: NDArray[np.float64], near: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pinocchio's q as ours; angles of planar joints within pi of those of `near` (ours)."""
    parts, start = [], 0
    for body, i in zip(model.bodies, model.q_slices, strict=True):
        if body.joint.type == "planar":
            x, y, c, s = q[start : start + 4]
            turns = np.arctan2(s, c) - near[i][2]
            parts.append(np.array([x, y, near[i][2] + np.arctan2(np.sin(turns), np.cos(turns))]))
            start += 4
        else:
            parts.append(q[start : start + i.stop - i.start])
            start += i.stop - i.start
    return np.concatenate(parts)


def joint_wrenches(model: Model, external: tuple[str, ...], f_ext: NDArray[np.float64]) -> pin.StdVec_Force:
    """Wrenches [force; moment] on frames, in their own axes, as Pinocchio's forces on joints."""
    total = [pin.Force.Zero() for _ in range(len(model.bodies) + 1)]
    for name, wrench in zip(external, f_ext, strict=True):
        frame = model.frame(name)
        total[frame.body + 1] += se3(frame.placement).act(pin.Force(wrench[:3], wrench[3:]))
    forces = pin.StdVec_Force()
    for force in total:
        forces.append(force)
    return forces


def frame_outputs(
    peer: pin.Model, names: tuple[str, ...], q: NDArray[np.float64], v: NDArray[np.float64]
) -> tuple[tuple[NDArray[np.float64], ...], NDArray[np.float64]]:
    """The outputs of `fk` and of `jacobian` on the named frames; q is Pinocchio's."""
    data = peer.createData()
    pin.forwardKinematics(peer, data, q, v)
    pin.updateFramePlacements(peer, data)
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    ids = [peer.getFrameId(name) for name in names]
    place = (np.array([data.oMf[i].translation for i in ids]), np.array([data.oMf[i].rotation for i in ids]))
    speed = np.array([pin.getFrameVelocity(peer, data, i, axes).vector for i in ids])
    J = np.array([pin.computeFrameJacobian(peer, peer.createData(), q, i, axes) for i in ids])
    return (*place, speed), J


def of_tips(
    model: Model, peer: pin.Model, q: NDArray[np.float64], v: NDArray[np.float64], a: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Accelerations of the tips, then derivatives of their velocities and accelerations; q is Pinocchio's.

    Derivatives of spatial vectors along the frame's own axes, turned, and made classical.
    """
    data, own, world = peer.createData(), pin.ReferenceFrame.LOCAL, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    pin.computeForwardKinematicsDerivatives(peer, data, q, v, a)
    pin.updateFramePlacements(peer, data)
    found = []
    for name in model.tips:
        i = peer.getFrameId(name)
        turn = np.kron(np.eye(2), data.oMf[i].rotation)
        v_q, v_v = (turn @ x for x in pin.getFrameVelocityDerivatives(peer, data, i, own))
        a_q, a_v, a_a = (turn @ x for x in pin.getFrameAccelerationDerivatives(peer, data, i, own)[1:])
        velocity, spatial = (f(peer, data, i, world) for f in (pin.getFrameVelocity, pin.getFrameAcceleration))
        for x, by_q in ((velocity, v_q), (spatial, a_q)):  # axes turn with the frame
            by_q -= np.vstack([pin.skew(x.linear), pin.skew(x.angular)]) @ v_v[3:]
        for by, of in ((a_q, v_q), (a_v, v_v)):  # w x v on top of the spatial acceleration
            by[:3] += pin.skew(velocity.angular) @ of[:3] - pin.skew(velocity.linear) @ of[3:]
        found.append((pin.getFrameClassicalAcceleration(peer, data, i, world).vector, v_q, v_v, a_q, a_v, a_a))
    return [np.array(column) for column in zip(*found, strict=True)]
