"""Products of derivatives for the oracle: along directions, by differences; second ones by differences of these.

Configurations move along the tangents of joints, and where loops tie joints, along what these allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.algorithms import QUANTITIES
from codegen.oracle.derivatives import many_differences
from codegen.oracle.steps import difference, integrate

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


def moved(model: Model, state: State, directions: State, steps: Array) -> list[dict[str, Array]]:
    """Arguments so far along their directions, for each of the steps (k)."""
    ways = {name: np.multiply.outer(steps, directions[name]) for name in state}
    ends = {n: integrate(model, x, ways[n]) if is_configuration(n) else x + ways[n] for n, x in state.items()}
    return [{name: end[k] for name, end in ends.items()} for k in range(len(steps))]


def along(model: Model, evaluate: Evaluate, state: State, directions: State, beside: float = 0.0) -> dict[str, Array]:
    """The derivatives of results along directions. RobotError and `beside` as in `differences`."""
    still = evaluate(state)

    def change(results: State) -> Array:
        parts = (
            difference(model, still[name], y) if is_configuration(name) else y - still[name]
            for name, y in results.items()
        )
        return np.concatenate([np.ravel(part) for part in parts])

    def changes(steps: Array) -> Array:
        return np.stack([change(evaluate(at)) for at in moved(model, state, directions, steps[:, 0])])

    flat, found, at = many_differences(changes, 1, beside)[:, 0], {}, 0
    for name, y in still.items():
        shape = (model.nv,) if is_configuration(name) else np.shape(y)
        size = int(np.prod(shape, dtype=int))
        found[name], at = flat[at : at + size].reshape(shape), at + size
    return found


def curvature(model: Model, evaluate: Evaluate, state: State, weights: State, directions: Sequence[State]) -> float:
    """The second derivative of results' weighted sum along the first direction, then along the second."""

    def slope(at: State) -> float:
        changes = along(model, evaluate, at, directions[0])
        return sum(float(np.sum(w * changes[name])) for name, w in weights.items())

    def slopes(steps: Array) -> Array:
        return np.array([[slope(at)] for at in moved(model, state, directions[1], steps[:, 0])])

    return float(many_differences(slopes, 1)[0, 0])
