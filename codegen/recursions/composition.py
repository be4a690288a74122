"""Compositions: algorithms that call others, at any configuration, instead of running over a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from casadi import SX

Called = Callable[..., tuple[SX, ...]]
"""An algorithm as a function: it takes arguments by name, those not named are the composition's own."""


@dataclass(frozen=True, slots=True)
class Composition:
    """A function of other algorithms, by their names, and of its own arguments, by theirs."""

    run: Callable[..., Any]
    parts: tuple[str, ...]
    takes: tuple[str, ...] = ("q", "v", "tau", "dt")

    def __str__(self) -> str:
        return f"{self.run.__name__} of {', '.join(self.parts)}"

    def __call__(self, *arguments: Any) -> Any:
        """What it computes of the parts, as functions, and the arguments."""
        return self.run(*arguments)
