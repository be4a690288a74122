"""MuJoCo's answers in our shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from opcount.bench.mjcf_text import mjcf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]


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
