"""Functions of columns that are called several times: what they make at each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from casadi import SX


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A function: symbols of its arguments, columns, and matrices of these symbols."""

    name: str
    given: tuple[SX, ...]
    made: tuple[SX, ...]

    def __str__(self) -> str:
        return f"{self.name}: {len(self.given)} columns -> {len(self.made)} matrices"


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A function at these columns."""

    body: Body
    takes: tuple[SX, ...]

    def __str__(self) -> str:
        return f"a call of {self.body}"


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """One of the matrices that a call makes, by number."""

    call: Call
    number: int
    symmetric: bool = False

    def __str__(self) -> str:
        return f"matrix {self.number} of {self.call}"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.call.body.made[self.number].shape
        return rows, columns

    @property
    def factors(self) -> tuple[Any, ...]:
        """The columns that its call takes."""
        return self.call.takes
