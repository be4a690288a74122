"""A controller of a robot that walks by a gait: one step of a solver in every period."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.ocp.horizon import Horizon
from codegen.ocp.states import States

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from codegen.model import Model
    from codegen.ocp.gait import Gait
    from codegen.ocp.horizon import Plan, Spent
    from codegen.ocp.problem import Problem

    Array = NDArray[np.float64]

NEAR = 0.2
"""How far from the robot its wanted place may be (m)."""


class Walker(ABC):
    """Steps towards what is wanted: `where` (x and y of the base, m) and `speed` (m/s along x).

    `rest` is the configuration to stand in, `weight` (N) what the feet that are held carry, along the third of their
    forces. Stages are those of `WholeBody`. Subclasses give `torques` of the first step, and `more` parameters.
    """

    def __init__(
        self, robot: Model, problem: Problem, solver: Any, gait: Gait, step: float, rest: ArrayLike, weight: float
    ) -> None:
        self.horizon = Horizon(problem, solver, States(robot), step)
        self.gait, self.rest, self.weight = gait, np.asarray(rest), weight
        self.restart(0.0, self.rest)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.horizon})"

    def restart(self, t: float, q: Array) -> None:
        """Forget what was planned, and stand here."""
        self.where, self.speed = q[:2].copy(), 0.0
        self.horizon.restart(t, q, self._forces(np.ones((1, len(self.gait.feet))))[0])

    def move_on(self, q: Array, where: ArrayLike, speed: float) -> None:
        """Ask for a place and a speed from now on; the place is not too far from the robot."""
        self.where, self.speed = np.clip(where, q[:2] - NEAR, q[:2] + NEAR), speed

    def parameters(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """What the stages are given: the gait, the wanted motion from here on, and the trajectory that is known."""
        times, (each, last) = self.horizon.times, self.horizon.trajectory()
        wanted, v_wanted = np.tile(self.rest, (times.size, 1)), np.zeros(self.horizon.v.shape)
        wanted[:, :2] = self.where
        wanted[:, 0] += self.speed * (times - times[0])
        v_wanted[:, 0] = self.speed
        held, height, rate = (x.astype(float) for x in self.gait.schedule(times))
        both = {"q_wanted": wanted, "v_wanted": v_wanted}
        more = {"held": held, "height": height, "rate": rate, "f_wanted": self._forces(held)}
        more |= both | self.more(times, wanted)
        return each | {name: x[:-1] for name, x in more.items()}, last | {name: x[-1:] for name, x in both.items()}

    def plan(self, t: float, q: Array, v: Array) -> tuple[Plan | None, Spent]:
        """The plan from a state at time t (None if there is none), and what it cost."""
        spent = self.horizon.iterate(t, q, v, self.parameters)
        return self.horizon.plan(self.torques()) if spent.solved else None, spent

    def more(self, times: Array, wanted: Array) -> dict[str, Array]:
        """More parameters of all nodes but the last, at times and wanted configurations of all of them."""
        del times, wanted
        return {}

    @abstractmethod
    def torques(self) -> Array:
        """Of the joints in the first step of the horizon (N m)."""

    def _forces(self, held: Array) -> Array:
        """Forces that share the weight between the feet that are held."""
        found = np.zeros((held.shape[0], self.horizon.problem.sizes["df"]))
        found[:, 2 :: found.shape[1] // held.shape[1]] = held * self.weight / np.maximum(held.sum(axis=1), 1)[:, None]
        return found
