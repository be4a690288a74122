"""A robot of ours as MJCF text for MuJoCo, and MuJoCo's answers in our shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from codegen.geometry import Pose
    from codegen.model import Body, Model

    Array = NDArray[np.float64]


def mjcf(model: Model) -> str:
    """`model` (convention `mujoco`) as MJCF: one site per frame, joints in the same order."""
    assert model.convention == "mujoco"
    bodies = "".join(_element(model, i) for i, body in enumerate(model.bodies) if body.parent < 0)
    return (
        f'<mujoco model={quoteattr(model.name)}><compiler angle="radian" autolimits="false"/>'
        f'<option gravity="{_numbers(model.gravity)}"/><worldbody>{bodies}</worldbody></mujoco>'
    )


def _element(model: Model, index: int) -> str:
    body = model.bodies[index]
    inner = "".join(_element(model, i) for i, child in enumerate(model.bodies) if child.parent == index)
    sites = "".join(
        f"<site name={quoteattr(frame.name)} {_place(frame.placement)}/>"
        for frame in model.frames
        if frame.body == index
    )
    return (
        f"<body name={quoteattr(body.name)} {_place(body.placement)}>{_inertial(body)}{_joints(body)}"
        f"{sites}{inner}</body>"
    )


def _inertial(body: Body) -> str:
    moment = np.array(body.inertia.moment)
    six = [*np.diag(moment), moment[0, 1], moment[0, 2], moment[1, 2]]
    mass, com = body.inertia.mass, _numbers(body.inertia.com)
    return f'<inertial mass="{mass!r}" pos="{com}" fullinertia="{_numbers(six)}"/>'


def _joints(body: Body) -> str:
    joint = body.joint
    common = f'armature="{joint.armature!r}"'
    name = quoteattr(joint.name)
    if joint.type == "floating":
        return f'<joint name={name} type="free" {common}/>'
    if joint.type == "spherical":
        return f'<joint name={name} type="ball" {common}/>'
    if joint.type == "planar":
        slides = "".join(f'<joint type="slide" axis="{axis}" {common}/>' for axis in ("1 0 0", "0 1 0"))
        return f'{slides}<joint name={name} type="hinge" axis="0 0 1" {common}/>'
    kind = {"revolute": "hinge", "prismatic": "slide"}[joint.type]
    return f'<joint name={name} type="{kind}" axis="{_numbers(joint.axis)}" {common}/>'


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in values)


def _place(pose: Pose) -> str:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, pose.R.ravel())
    return f'pos="{_numbers(pose.p)}" quat="{_numbers(quaternion)}"'


def mujoco_model(model: Model) -> mujoco.MjModel:
    peer = mujoco.MjModel.from_xml_string(mjcf(model))
    assert (peer.nq, peer.nv) == (model.nq, model.nv)
    return peer


def at(peer: mujoco.MjModel, q: Array, v: Array) -> mujoco.MjData:
    """MuJoCo's data after a forward pass at (q, v), no forces applied."""
    data = mujoco.MjData(peer)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(peer, data)
    return data


def inertia_matrix(peer: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """The joint-space inertia (nv, nv); MuJoCo 3 and 4 take the arguments in different orders."""
    M = np.zeros((peer.nv, peer.nv))
    if hasattr(data, "qM"):
        mujoco.mj_fullM(peer, M, data.qM)
    else:
        mujoco.mj_fullM(peer, data, M)
    return M


def applied(peer: mujoco.MjModel, data: mujoco.MjData, names: tuple[str, ...], f_ext: Array) -> Array:
    """The joint forces (nv) equivalent to wrenches on sites, in the sites' own axes."""
    total = np.zeros(peer.nv)
    for name, wrench in zip(names, f_ext, strict=True):
        site = peer.site(name).id
        R = data.site_xmat[site].reshape(3, 3)
        point, body = data.site_xpos[site], peer.site_bodyid[site]
        mujoco.mj_applyFT(peer, data, R @ wrench[:3], R @ wrench[3:], point, body, total)
    return total


def frame_outputs(peer: mujoco.MjModel, data: mujoco.MjData, names: tuple[str, ...]) -> tuple[tuple[Array, ...], Array]:
    """The outputs of `fk` and of `jacobian` on the named sites."""
    ids = [peer.site(name).id for name in names]
    speeds, jacobians = [], []
    for i in ids:
        turning_first = np.zeros(6)
        mujoco.mj_objectVelocity(peer, data, mujoco.mjtObj.mjOBJ_SITE, i, turning_first, 0)
        speeds.append(np.append(turning_first[3:], turning_first[:3]))
        linear, angular = np.zeros((3, peer.nv)), np.zeros((3, peer.nv))
        mujoco.mj_jacSite(peer, data, linear, angular, i)
        jacobians.append(np.vstack([linear, angular]))
    places = (data.site_xpos[ids].copy(), data.site_xmat[ids].reshape(-1, 3, 3).copy())
    return (*places, np.array(speeds)), np.array(jacobians)
