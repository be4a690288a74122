"""Proximal algorithms as what they are: a start, a step that is repeated, and a finish.

The step maps a state (multipliers and whatever else changes) to the next; everything that does not change between
steps is computed before the first. `residual` is what the constraints still lack at a state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from casadi import SX, densify, reshape, vec, vertcat


@dataclass(frozen=True, slots=True)
class Iteration:
    """An iterative algorithm; the functions take the members of a state one by one.

    If it looks for the root of an `equation`, from a `guess` on by Newton's method, this gives its derivative by the
    state and what it lacks.
    """

    start: tuple[Any, ...]
    step: Callable[..., tuple[Any, ...]]
    residual: Callable[..., SX]
    finish: Callable[..., tuple[Any, ...]]
    equation: Callable[..., tuple[SX, SX]] | None = None
    guess: SX | None = None

    @property
    def state(self) -> SX:
        """The start as one column."""
        return flat(self.start)

    def named(self, column: SX) -> tuple[Any, ...]:
        """A column as a state: the members of the start, with other values."""
        members: tuple[Any, ...] = rebuilt(self.start, column, 0)[0]
        return members

    def unrolled(self, iterations: int) -> tuple[Any, ...]:
        """The outputs after a fixed number of iterations; the first is the start itself."""
        return self.finish(*self.reached(iterations))

    def reached(self, iterations: int) -> tuple[Any, ...]:
        """The state after a fixed number of iterations."""
        state = self.start
        for _ in range(iterations - 1):
            state = self.step(*state)
        return state


def flat(state: Any) -> SX:
    """Matrices, and tuples and dictionaries of them, as one column."""
    if isinstance(state, SX):
        return densify(vec(state))
    members = state.values() if isinstance(state, dict) else state
    return vertcat(*[flat(member) for member in members])


def rebuilt(like: Any, column: SX, at: int) -> tuple[Any, int]:
    """What `flat` made a column of, from the values of a column from place `at` on; and where it ends."""
    if isinstance(like, SX):
        end = at + like.numel()
        return reshape(column[at:end], like.size1(), like.size2()), end
    members = []
    for member in like.values() if isinstance(like, dict) else like:
        value, at = rebuilt(member, column, at)
        members.append(value)
    return (dict(zip(like, members, strict=True)) if isinstance(like, dict) else tuple(members)), at
