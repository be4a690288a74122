"""Brax: a step of its generalised pipeline from the same bodies, joints and masses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brax.generalized import pipeline
from brax.io.mjcf import load_model

from opcount.bench import mjx_peer

if TYPE_CHECKING:
    from codegen.model import Model


def step(robot: Model, dt: float) -> Any:
    """(q, v, u) -> (q, v), with u the torques of the joints after a floating base.

    M is factorised, where Brax iterates for an inverse by default. What a state holds besides q and v is computed from
    them; XLA leaves out what the next state holds.
    """
    motors = "".join(f'<motor joint="{body.joint.name}"/>' for body in robot.bodies if not body.joint.free)
    text = f'<actuator>{motors}</actuator><worldbody><geom size="0.001" contype="0" conaffinity="0"/></worldbody>'
    system = load_model(mjx_peer.compiled(robot, dt, text)).replace(matrix_inv_iterations=0)

    def stepped(q: Any, v: Any, u: Any) -> tuple[Any, Any]:
        after = pipeline.step(system, pipeline.init(system, q, v), u)
        return after.q, after.qd

    return stepped
