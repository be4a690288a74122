"""Configurations along the nodes of a horizon: they move along tangents, so quaternions keep their norm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen import api

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from codegen.model import Model

    Array = NDArray[np.float64]


class States:
    """`integrate` and `difference` of a robot, compiled, and what follows from them; any leading dimensions."""

    __slots__ = ("difference", "moved")

    def __init__(self, robot: Model) -> None:
        self.moved = api.build(robot, "integrate")
        self.difference = api.build(robot, "difference")

    def __repr__(self) -> str:
        return f"States({self.moved.name}, {self.difference.name})"

    def between(self, q0: Array, q1: Array, part: float) -> Array:
        """The configuration on the way from q0 (part 0) to q1 (part 1), at constant velocity (... x nq)."""
        return np.asarray(self.moved(q0, part * self.difference(q0, q1)))

    def later(self, q: Array, v: Array, part: float) -> tuple[Array, Array]:
        """A trajectory (nodes x nq, nodes x nv), by a part of the distance of nodes later; the last node stays."""
        ahead, faster = np.vstack([q[1:], q[-1:]]), np.vstack([v[1:], v[-1:]])
        return self.between(q, ahead, part), v + part * (faster - v)
