"""Products of derivatives for the oracle: along directions, by differences; second ones by differences of these.

Configurations move along the tangents of joints, and where loops tie joints, along what these allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.algorithms import QUANTITIES
from codegen.oracle import loops, manifold
from codegen.oracle.derivatives import differences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]
    State = Mapping[str, Array]
    Evaluate = Callable[[State], Mapping[str, Array]]
    """Results by names at arguments by names."""


def is_configuration(name: str) -> bool:
    """Whether an argument or a result is a configuration."""
    return name in QUANTITIES and QUANTITIES[name].shape == ("nq",)


def moved(model: Model, state: State, directions: State, step: float) -> dict[str, Array]:
    """Arguments so far along their directions."""
    integrate = loops.integrate if model.loops else manifold.integrate
    return {
        name: integrate(model, x, step * directions[name]) if is_configuration(name) else x + step * directions[name]
        for name, x in state.items()
    }


def along(model: Model, evaluate: Evaluate, state: State, directions: State, beside: float = 0.0) -> dict[str, Array]:
    """The derivatives of results along directions. RobotError and `beside` as in `differences`."""
    difference = loops.difference if model.loops else manifold.difference
    still = evaluate(state)

    def changes(step: Array) -> Array:
        results = evaluate(moved(model, state, directions, float(step[0])))
        parts = (
            difference(model, still[name], y) if is_configuration(name) else y - still[name]
            for name, y in results.items()
        )
        return np.concatenate([np.ravel(part) for part in parts])

    flat, found, at = differences(changes, 1, beside)[:, 0], {}, 0
    for name, y in still.items():
        shape = (model.nv,) if is_configuration(name) else np.shape(y)
        size = int(np.prod(shape, dtype=int))
        found[name], at = flat[at : at + size].reshape(shape), at + size
    return found


def curvature(model: Model, evaluate: Evaluate, state: State, weights: State, directions: Sequence[State]) -> float:
    """The second derivative of results' weighted sum along the first direction, then along the second."""

    def slope(step: Array) -> Array:
        at = moved(model, state, directions[1], float(step[0]))
        changes = along(model, evaluate, at, directions[0])
        return np.array([sum(float(np.sum(w * changes[name])) for name, w in weights.items())])

    return float(differences(slope, 1)[0, 0])
