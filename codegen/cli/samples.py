"""Random arguments for a generated function: valid states, and parameters that make physical
sense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.algorithms import BEHIND, OPTIONAL, optional
from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.compilation.runtime import Function
    from codegen.robot import Robot

    Array = NDArray[np.float64]

SHORT = 0.05  # rad or m: a step that linkages can follow


def arguments(
    robot: Robot, function: Function, options: Mapping[str, Any], number: int, seed: int
) -> tuple[tuple[str, ...], tuple[Array, ...]]:
    """The names of a function's inputs, parameters in the words of `options`, and `samples` of them."""
    numbers = tuple(spec for spec in options["parameters"] if spec not in {*OPTIONAL, *BEHIND})
    own = tuple(port.name for port in function.inputs)[: len(function.inputs) - len(numbers)]
    sizes = {port.name: port.shape[0] for port in function.inputs if port.shape}
    rows = max((sizes.get(name, 0) for name in (*OPTIONAL, "b", "kp", "kd", "weight")), default=0)
    held = max((size for name, size in sizes.items() if name.startswith("target_")), default=0)
    return (*own, *numbers), samples(robot, own, len(options["external"]), numbers, number, seed, rows, held)


def samples(
    robot: Robot,
    inputs: Sequence[str],
    external: int,
    parameters: Sequence[str],
    number: int,
    seed: int,
    rows: int = 0,
    held: int = 0,
) -> tuple[Array, ...]:
    """`number` random values of every input, then of every parameter, stacked along the first axis.

    Configurations respect joint limits; velocities, accelerations, forces and the `external` wrenches are of order one
    in SI units, and so are wanted accelerations and multipliers of the `rows` of contacts, and the targets of the
    `held` frames; steps of time are some milliseconds, with forces that make accelerations of order one, as others
    throw light links far. Steps are short where implicit loops must stay closed. Equal arguments give equal samples.
    """
    rng = np.random.default_rng(seed)
    draws = [
        [
            *(_quantity(robot, name, external, rows, held, rng) for name in inputs),
            *(_parameter(robot, spec, rng) for spec in parameters),
        ]
        for _ in range(number)
    ]
    columns = [np.stack(column) for column in zip(*draws, strict=True)]
    if "dt" in inputs and "tau" in inputs:
        q, v, tau = (inputs.index(name) for name in ("q", "v", "tau"))
        columns[tau] = np.asarray(ORACLE["rnea"](robot, columns[q], columns[v], columns[tau]))
    return tuple(columns)


def _quantity(robot: Robot, name: str, external: int, rows: int, held: int, rng: np.random.Generator) -> Array:
    if name in ("q", "q0", "q1"):
        return robot.random(rng)[0]
    if name == "guess":
        return _opened(robot, rng)
    if name == "f_ext":
        return rng.standard_normal((external, 6))
    if name in ("k", "lam0", "b"):
        return rng.standard_normal(rows)
    if name == "mu":
        return np.asarray(optional(robot)["mu"] * 10.0 ** rng.uniform(-1.0, 1.0))
    if name == "dt":
        return np.asarray(rng.uniform(1e-3, 1e-2))
    if name == "R":
        return optional(robot)["R"] * 10.0 ** rng.uniform(2.0, 5.0, rows)
    if name in ("kp", "kd", "weight"):
        return rng.uniform(0.5, 2.0, rows)
    if name == "target_rotation":
        turns = np.linalg.qr(rng.standard_normal((held, 3, 3)))[0]
        return np.asarray(turns * np.linalg.det(turns)[:, None, None])
    if name in ("target_position", "target_velocity"):
        return rng.standard_normal((held, 3 if name == "target_position" else 6))
    step = name == "dv" and not all(loop.explicit for loop in robot.loops)
    return (SHORT if step else 1.0) * rng.standard_normal(robot.nv)


def _opened(robot: Robot, rng: np.random.Generator) -> Array:
    """A valid configuration, but for joints that follow others: these are up to 0.02 rad or m off."""
    q = robot.random(rng)[0]
    for body, place, own in zip(robot.bodies, robot.q_slices, robot.v_slices, strict=True):
        if own.stop == own.start and body.joint.single_axis:
            q[place] += rng.uniform(-0.02, 0.02, place.stop - place.start)
    return q


def _parameter(robot: Robot, spec: str, rng: np.random.Generator) -> Array:
    if spec == "gravity":
        return rng.standard_normal(3) + robot.gravity
    if spec.startswith(("payload:", "inertia:")):
        A = rng.standard_normal((3, 3)) * 0.1
        moment = np.trace(A @ A.T) * np.eye(3) - A @ A.T
        entries = moment[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        return np.array([rng.uniform(0.1, 2.0), *rng.uniform(-0.2, 0.2, 3), *entries])
    return rng.uniform(-0.5, 0.5, 3)
