"""Derivatives by arguments besides the state for the oracle: results' differences, as arguments change.

What is small itself, as inertias, offsets and compliances, changes by less than other arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.oracle.derivatives import differences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Evaluate = Callable[[Mapping[str, Array]], Mapping[str, Array]]
    """Results by names at arguments by names."""

SHORT = 0.005  # part of the step of other arguments


def part_of_step(spec: str) -> float:
    """The step of an argument's differences, as a part of the usual one; rounding grows by its inverse."""
    return SHORT if ":" in spec or spec == "R" else 1.0


def by_argument(evaluate: Evaluate, state: Mapping[str, Array], spec: str) -> dict[str, Array]:
    """The derivative of each result by the argument of this name: axes of the result, then of the argument.

    RobotError where results are not smooth.
    """
    value, still, step = np.asarray(state[spec], float), evaluate(state), part_of_step(spec)

    def results(d: Array) -> Array:
        changed = evaluate({**state, spec: value + step * d.reshape(value.shape)})
        return np.concatenate([np.ravel(x) for x in changed.values()])

    rows = np.cumsum([np.size(x) for x in still.values()])[:-1]
    parts = np.split(differences(results, value.size) / step, rows)
    return {
        name: part.reshape(*np.shape(x), *value.shape) for (name, x), part in zip(still.items(), parts, strict=True)
    }
