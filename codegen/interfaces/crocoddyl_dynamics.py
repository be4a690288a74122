"""What Crocoddyl's actions call: compiled dynamics and their derivatives, in the order of coordinates that it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codegen.compilation.runtime import Function

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Order:
    """Where the coordinates of a robot stand in Pinocchio's q and v, and where Pinocchio's v stands in ours."""

    q: NDArray[np.intp]
    v: NDArray[np.intp]
    back: NDArray[np.intp]

    def __str__(self) -> str:
        return f"q by {self.q}, v by {self.v}"


@dataclass(frozen=True, slots=True)
class Dynamics:
    """Forward dynamics and its derivatives as C, and what is between their arguments and Crocoddyl's.

    There is no `order` where both have the same. `targets` are Crocoddyl's contacts with a gain on positions: their
    references are arguments.
    """

    value: Function
    derivatives: Function
    nq: int
    order: Order | None
    targets: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.value.name} and {self.derivatives.name}, {self.order or 'in the same order'}"

    def arguments(self, x: Array, tau: Array) -> tuple[Array, ...]:
        """The arguments of both functions, of a state [q; v] and joint forces (nv) in Pinocchio's order."""
        q, v = x[: self.nq], x[self.nq :]
        if self.order:
            q, v, tau = q[self.order.q], v[self.order.v], tau[self.order.v]
        return (q, v, tau, np.array([one.reference for one in self.targets])) if self.targets else (q, v, tau)

    def solution(self, arguments: tuple[Array, ...]) -> tuple[Array, Array | None]:
        """Accelerations (nv) in Pinocchio's order, and multipliers (m) if there are contacts."""
        found = self.value(*arguments)
        a, lam = (found, None) if isinstance(found, np.ndarray) else found[:2]
        return (a[self.order.back] if self.order else a), lam

    def slopes(self, arguments: tuple[Array, ...]) -> tuple[Sequence[Array], Sequence[Array]]:
        """Derivatives by q, v and tau in Pinocchio's order: of accelerations (nv x nv) and multipliers (m x nv)."""
        found = self.derivatives(*arguments)
        by, forces = found[:3], found[3:6]
        if self.order:
            back = self.order.back
            by, forces = [y[np.ix_(back, back)] for y in by], [y[:, back] for y in forces]
        return by, forces
