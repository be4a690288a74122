"""adam: a step from its mass matrix and bias forces; it has no articulated-body algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import jax
import jax.numpy as jnp
import numpy as np
from adam import Representations
from adam.jax import KinDynComputations

from codegen.errors import RobotError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codegen.model import Body, Model


def step(robot: Model, dt: float) -> Any:
    """(q, v, u) -> (q, v), with u the torques of the joints; RobotError for a robot that is no fixed arm of hinges."""
    if any(body.joint.type != "revolute" or body.joint.armature for body in robot.bodies):
        raise RobotError("adam: the comparison has fixed bases and hinges without armature alone")
    names, base = [body.joint.name for body in robot.bodies], np.eye(4)
    gravity = np.append(np.array(robot.gravity), np.zeros(3))
    known = KinDynComputations(urdf(robot), names, gravity=jnp.array(gravity))
    known.set_frame_velocity_representation(Representations.BODY_FIXED_REPRESENTATION)

    def stepped(q: Any, v: Any, u: Any) -> tuple[Any, Any]:
        M, bias = known.mass_matrix(base, q)[6:, 6:], known.bias_force(base, q, jnp.zeros(6), v)[6:]
        after = v + dt * jax.scipy.linalg.solve(M, u - bias, assume_a="pos")
        return q + dt * after, after

    return stepped


def urdf(robot: Model) -> str:
    """An arm of hinges on a fixed base as URDF text."""
    links = "".join(_link(body) + _joint(robot, body) for body in robot.bodies)
    return f'<robot name={quoteattr(robot.name)}><link name="fixed base"/>{links}</robot>'


def _link(body: Body) -> str:
    names, places = ("xx", "xy", "xz", "yy", "yz", "zz"), ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    moment = " ".join(f'i{name}="{body.inertia.moment[i][j]!r}"' for name, (i, j) in zip(names, places, strict=True))
    return (
        f'<link name={quoteattr(body.name)}><inertial><origin xyz="{_numbers(body.inertia.com)}"/>'
        f'<mass value="{body.inertia.mass!r}"/><inertia {moment}/></inertial></link>'
    )


def _joint(robot: Model, body: Body) -> str:
    R, parent = np.array(body.placement.R), robot.bodies[body.parent].name if body.parent >= 0 else "fixed base"
    angles = np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(np.clip(R[2, 0], -1, 1)), np.arctan2(R[1, 0], R[0, 0])
    return (
        f'<joint name={quoteattr(body.joint.name)} type="revolute"><parent link={quoteattr(parent)}/>'
        f"<child link={quoteattr(body.name)}/>"
        f'<origin xyz="{_numbers(body.placement.p)}" rpy="{_numbers(angles)}"/>'
        f'<axis xyz="{_numbers(body.joint.axis)}"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
    )


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in values)
