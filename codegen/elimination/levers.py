"""Lever arms by which a contact on a body feels the body's joint, in numbers of the model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from codegen.geometry import skew

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]

REGULAR = 1e6  # beyond this condition, rows do not tell what they are asked for
SHORTEST = 1e-4  # of the longest offset between joints, whatever the body weighs
STEEPEST = 100.0  # moment that a hinge may be felt as, beside the one about its axis


def long_enough(model: Model, b: int, S: Array, K: Array) -> bool:
    """Whether the joint of body b, with subspace S (6 x n), is felt as K (6 x n forces of unit multipliers) by levers.

    Where these are short, the joint's inertia seems great: here it must not outweigh the robot.
    """
    Y, inertia = S.T @ K, model.bodies[b].inertia
    if not np.linalg.cond(Y) < REGULAR:
        return False
    c = inertia.mass * skew(inertia.com)
    A = np.block([[inertia.about_origin, c], [-c, inertia.mass * np.eye(3)]])
    D = S.T @ A @ S + model.bodies[b].joint.armature * np.eye(S.shape[1])
    B = K @ np.linalg.inv(Y)
    pushed, hinges = B[3:], S[:3].any(axis=0)
    if np.linalg.norm(B[:3, hinges]) > STEEPEST:
        return False
    felt = np.linalg.eigvalsh(pushed @ D @ pushed.T).max()
    offsets = (math.hypot(*body.placement.p) for body in model.bodies if body.parent >= 0)
    lever = 1.0 / max(float(np.linalg.norm(pushed, 2)), 1e-300)
    return bool(felt < sum(body.inertia.mass for body in model.bodies) and lever > SHORTEST * max(offsets, default=0.0))
