"""A function in CasADi's expressions: its arguments and results by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from casadi import SX, Function, vec, vertcat

from codegen.errors import RobotError
from codegen.limits import MOST_BY_AD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codegen.tracing.task import Task


@dataclass(frozen=True, slots=True)
class Expressions:
    """Arguments (dense symbols) and results (without structural zeros) of a function, by name, as matrices."""

    inputs: dict[str, SX]
    outputs: dict[str, SX]

    def __str__(self) -> str:
        return f"({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})"

    @property
    def x(self) -> SX:
        """All arguments in one column (n)."""
        return column(self.inputs.values())

    @property
    def y(self) -> SX:
        """All results in one column (m)."""
        return column(self.outputs.values())


def column(parts: Iterable[SX]) -> SX:
    """Matrices in one column, each by its columns."""
    return vertcat(*[vec(part) for part in parts])


def check_length(task: Task, own: Expressions) -> None:
    """RobotError where a Hessian by AD of these would be more straight-line code than any compiler takes."""
    length = Function("y", [own.x], [own.y], {"live_variables": False}).n_instructions() * own.x.size1()
    if length > MOST_BY_AD:
        raise RobotError(
            f"{task.model.name}: the Hessian of {task.algorithm} would be about {length:,} operations of "
            "straight-line code; ask solvers' functions for a derivative order of 1, or for fewer contacts"
        )
