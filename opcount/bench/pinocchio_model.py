"""A robot of ours as a Pinocchio model, body by body, with no file and no parser in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

if TYPE_CHECKING:
    from codegen.geometry import Inertia, Pose
    from codegen.model import Joint, Model


def se3(pose: Pose) -> pin.SE3:
    return pin.SE3(pose.R, pose.p)


def inertia(value: Inertia) -> pin.Inertia:
    return pin.Inertia(value.mass, np.array(value.com), np.array(value.moment))


def joint_model(joint: Joint) -> object:
    if joint.type == "revolute":
        return pin.JointModelRevoluteUnaligned(np.array(joint.axis))
    if joint.type == "prismatic":
        return pin.JointModelPrismaticUnaligned(np.array(joint.axis))
    if joint.type == "planar":
        return pin.JointModelPlanar()
    return {"spherical": pin.JointModelSpherical, "floating": pin.JointModelFreeFlyer}[joint.type]()


def pinocchio_model(model: Model) -> pin.Model:
    """The same robot; velocities, accelerations and forces are in the same order and convention."""
    assert model.convention == "pinocchio"
    peer = pin.Model()
    for body in model.bodies:
        index = peer.addJoint(body.parent + 1, joint_model(body.joint), se3(body.placement), body.joint.name)
        peer.appendBodyToJoint(index, inertia(body.inertia), pin.SE3.Identity())
    for frame in model.frames:
        peer.addFrame(pin.Frame(frame.name, frame.body + 1, 0, se3(frame.placement), pin.FrameType.OP_FRAME))
    peer.gravity.linear = np.array(model.gravity)
    widths = [columns.stop - columns.start for columns in model.v_slices]
    peer.armature = np.repeat([body.joint.armature for body in model.bodies], widths)
    assert peer.nv == model.nv
    return peer
