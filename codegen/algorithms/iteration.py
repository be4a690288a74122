"""Proximal algorithms as what they are: a start, a step that is repeated, and a finish.

The step maps a state (multipliers and whatever else changes) to the next; everything that does not change between
steps is computed before the first. `residual` is what the constraints still lack at a state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from casadi import SX


@dataclass(frozen=True, slots=True)
class Iteration:
    """An iterative algorithm; the functions take the members of a state one by one."""

    start: tuple[Any, ...]
    step: Callable[..., tuple[Any, ...]]
    residual: Callable[..., SX]
    finish: Callable[..., tuple[SX, ...]]

    def unrolled(self, iterations: int) -> tuple[SX, ...]:
        """The outputs after a fixed number of iterations; the first is the start itself."""
        state = self.start
        for _ in range(iterations - 1):
            state = self.step(*state)
        return self.finish(*state)
