"""What the oracle answers, kept: algorithms that compute the same take it from one another."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.oracle import ORACLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.robot import Robot

    Frozen = tuple[tuple[str, tuple[int, ...], bytes], ...]

KEPT = 1000
"""Answers: those for a hundred states to several questions."""


def expected_at(
    robot: Robot, name: str, state: Mapping[str, Any], given: Mapping[str, Any], parameters: Mapping[str, Any]
) -> Sequence[NDArray[np.float64]]:
    """The outputs of an algorithm at a state, with its inputs in order; see `codegen.oracle`."""
    return _answers(ORACLE[name], robot, _frozen(state), tuple(given.items()), _frozen(parameters))


def arrays(outputs: Any) -> Sequence[NDArray[np.float64]]:
    """Outputs in order, also if there is only one."""
    return outputs if isinstance(outputs, tuple) else (outputs,)


@lru_cache(maxsize=KEPT)
def _answers(
    oracle: Callable[..., Any], robot: Robot, state: Frozen, given: tuple[tuple[str, Any], ...], parameters: Frozen
) -> Sequence[NDArray[np.float64]]:
    inputs = [x for _, x in _thawed(state)]
    return arrays(oracle(robot, *inputs, **dict(given), parameters=dict(_thawed(parameters))))


def _frozen(named: Mapping[str, Any]) -> Frozen:
    """Arrays by name as what can be looked up."""
    return tuple((name, np.shape(x), np.asarray(x, float).tobytes()) for name, x in named.items())


def _thawed(named: Frozen) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """The arrays again."""
    return ((name, np.frombuffer(x).reshape(shape)) for name, shape, x in named)
