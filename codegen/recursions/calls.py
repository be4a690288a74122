"""Functions of columns that are called several times: what they make at each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from casadi import SX


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A function: symbols of its arguments, columns, and matrices of these symbols.

    The last of what is `given`, as many as are `opened`, are numbers that loops have made of what it made before.
    """

    name: str
    given: tuple[SX, ...]
    made: tuple[SX, ...]
    opened: int = 0

    def __str__(self) -> str:
        return f"{self.name}: {len(self.given)} columns -> {len(self.made)} matrices"

    @property
    def after(self) -> list[int]:
        """Of everything given, how many of the opened numbers are known with it."""
        first = len(self.given) - self.opened
        return [max(0, k - first + 1) for k in range(len(self.given))]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A function at these columns, and at numbers that it is told on the way."""

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
