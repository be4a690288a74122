"""Random arguments for a generated function: valid states, and parameters that make physical
sense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]


def samples(
    robot: Model, inputs: Sequence[str], external: int, parameters: Sequence[str], number: int, seed: int
) -> tuple[Array, ...]:
    """`number` random values of every input, then of every parameter, stacked along the first axis.

    Configurations respect joint limits; velocities, accelerations, forces and the `external` wrenches are of
    order one in SI units. Equal arguments give equal samples.
    """
    rng = np.random.default_rng(seed)
    draws = [
        [
            *(_quantity(robot, name, external, rng) for name in inputs),
            *(_parameter(robot, spec, rng) for spec in parameters),
        ]
        for _ in range(number)
    ]
    return tuple(np.stack(column) for column in zip(*draws, strict=True))


def _quantity(robot: Model, name: str, external: int, rng: np.random.Generator) -> Array:
    if name in ("q", "q0", "q1"):
        return robot.random(rng)[0]
    if name == "guess":
        return _opened(robot, rng)
    if name == "f_ext":
        return rng.standard_normal((external, 6))
    return rng.standard_normal(robot.nv)


def _opened(robot: Model, rng: np.random.Generator) -> Array:
    """A valid configuration, but for joints that follow others: these are up to 0.02 rad or m off."""
    q = robot.random(rng)[0]
    for body, place, own in zip(robot.bodies, robot.q_slices, robot.v_slices, strict=True):
        if own.stop == own.start and body.joint.type in ("revolute", "prismatic"):
            q[place] += rng.uniform(-0.02, 0.02, place.stop - place.start)
    return q


def _parameter(robot: Model, spec: str, rng: np.random.Generator) -> Array:
    if spec == "gravity":
        return rng.standard_normal(3) + robot.gravity
    if spec.startswith("payload:"):
        A = rng.standard_normal((3, 3)) * 0.1
        moment = np.trace(A @ A.T) * np.eye(3) - A @ A.T
        entries = moment[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        return np.array([rng.uniform(0.1, 2.0), *rng.uniform(-0.2, 0.2, 3), *entries])
    return rng.uniform(-0.5, 0.5, 3)
