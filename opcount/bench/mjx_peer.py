"""MuJoCo's MJX: a step in JAX from the same bodies, joints and masses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import mujoco
from mujoco import mjx

from opcount.bench.mjcf_text import mjcf

if TYPE_CHECKING:
    from codegen.model import Model

LEAN = '<flag contact="disable" constraint="disable" eulerdamp="disable" sensor="disable"/>'
"""Nothing is computed that a free robot does not need."""


def compiled(robot: Model, dt: float, after: str = "") -> Any:
    """MuJoCo's model of a robot (convention `mujoco`), with steps of semi-implicit Euler."""
    option = f'timestep="{dt!r}" integrator="Euler" jacobian="dense"'
    return mujoco.MjModel.from_xml_string(mjcf(robot, option, LEAN, after))


def step(robot: Model, dt: float) -> Any:
    """(q, v, u) -> (q, v), with u the torques of the joints after a floating base."""
    model = compiled(robot, dt)
    known, data = mjx.put_model(model), mjx.make_data(model)

    def stepped(q: Any, v: Any, u: Any) -> tuple[Any, Any]:
        tau = jax.numpy.concatenate([jax.numpy.zeros(robot.nv - u.size), u])
        after = mjx.step(known, data.replace(qpos=q, qvel=v, qfrc_applied=tau))
        return after.qpos, after.qvel

    return stepped
