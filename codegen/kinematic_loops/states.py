"""Configurations and states of a model, loops closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]


def neutral(model: Model) -> Array:
    """See `Robot.neutral`."""
    q, joints = np.zeros(model.nq), model.joints
    for b, place in enumerate(model.q_slices):
        if place.stop > place.start:
            q[place] = joints[b].neutral()
    return _closed(model, q, None)


def random(model: Model, rng: np.random.Generator | int | None = None) -> tuple[Array, Array, Array]:
    """See `Robot.random`."""
    rng = np.random.default_rng(rng)
    q, joints = np.zeros(model.nq), model.joints
    for b, (body, place) in enumerate(zip(model.bodies, model.q_slices, strict=True)):
        if place.stop > place.start:
            q[place] = joints[b].random(rng, body.joint.lower, body.joint.upper)
    return _closed(model, q, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)


def _closed(model: Model, q: Array, rng: np.random.Generator | None) -> Array:
    """q with the coordinates of implicit loops replaced by ones that close them: random, or neutral."""
    if all(loop.explicit for loop in model.loops):
        return q
    from codegen.kinematic_loops.closure import closed_positions  # symbolic, slow to import, needed by few robots

    for places, x in closed_positions(model, rng):
        q[places] = x
    return q
