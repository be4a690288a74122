"""A function in CasADi's expressions: its arguments and results by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from casadi import SX, vec, vertcat

if TYPE_CHECKING:
    from collections.abc import Iterable


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
