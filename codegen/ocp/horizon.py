"""Real-time iterations: a trajectory that moves on with time, one step of a solver, and the plan that it gives."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from codegen.ocp.piqp import Piqp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from codegen.ocp.problem import Problem
    from codegen.ocp.states import States

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan:
    """The first step of a trajectory, `step` seconds long: states at its ends, and the torques of joints (N m)."""

    begin: float
    step: float
    q: Array
    v: Array
    tau: Array
    states: States

    def __str__(self) -> str:
        return f"a plan from {self.begin:g} s on, {self.step:g} s long"

    def at(self, t: float) -> tuple[Array, Array]:
        """The planned state at time t."""
        part = (t - self.begin) / self.step
        return self.states.between(self.q[0], self.q[1], part), self.v[0] + part * (self.v[1] - self.v[0])

    def torques(self, t: float, q: Array, v: Array, kp: Array, kd: Array) -> Array:
        """Those of the plan, and feedback of the joints after a floating base, with these gains."""
        part = (t - self.begin) / self.step
        (q_wanted, v_wanted), joints = ((1 - part) * x[0] + part * x[1] for x in (self.q, self.v)), kp.size
        found: Array = self.tau + kp * (q_wanted - q)[-joints:] + kd * (v_wanted - v)[-joints:]
        return found

    def ahead(self, t: float, q: Array, v: Array, seconds: float) -> tuple[Array, Array]:
        """The state that comes so many seconds after q and v at time t, by the plan."""
        (q0, v0), (q1, v1) = self.at(t), self.at(t + seconds)
        return np.asarray(self.states.moved(q, self.states.difference(q0, q1))), v + v1 - v0


@dataclass(frozen=True, slots=True)
class Spent:
    """When a step began and what it cost: seconds of the processor in functions and in all, iterations, success."""

    begun: float
    functions: float
    total: float
    iterations: int
    solved: bool

    def __str__(self) -> str:
        return f"{1e3 * self.total:.2f} ms, {1e3 * self.functions:.2f} in functions; solved: {self.solved}"


class Horizon:
    """A trajectory q, v, f at nodes `step` seconds apart, of a problem with the unknowns dq, dv and df.

    `solver` is a `Riccati` of the problem, or `Piqp`.
    """

    __slots__ = ("_linearised", "_solver", "begin", "f", "problem", "q", "states", "step", "v")

    def __init__(self, problem: Problem, solver: Any, states: States, step: float) -> None:
        self.problem, self.states, self.step, self._solver = problem, states, step, solver
        self._linearised = problem.quadratic if isinstance(solver, Piqp) else problem.evaluated

    def __repr__(self) -> str:
        return f"Horizon({self.problem}, {self._solver})"

    def restart(self, t: float, q: Array, f: Array) -> None:
        """Forget what was planned: rest at q (nq) from time t on, with forces f."""
        nodes = self.problem.nodes + 1
        self.q, self.f, self.v = (np.tile(x, (nodes, 1)) for x in (q, f, np.zeros(self.problem.sizes["dv"])))
        self.begin = t

    @property
    def acceleration(self) -> Array:
        """That of the first step."""
        found: Array = (self.v[1] - self.v[0]) / self.step
        return found

    @property
    def times(self) -> Array:
        """Those of the nodes (s)."""
        return np.asarray(self.begin + self.step * np.arange(self.problem.nodes + 1), dtype=np.float64)

    def trajectory(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """Parameters q, v, q_next, v_next, f of the stages, and q, v of the last one."""
        q, v, f = self.q, self.v, self.f
        return {"q": q[:-1], "v": v[:-1], "q_next": q[1:], "v_next": v[1:], "f": f[:-1]}, {"q": q[-1:], "v": v[-1:]}

    def iterate(
        self, t: float, q: Array, v: Array, given: Callable[[], tuple[Mapping[str, Array], Mapping[str, Array]]]
    ) -> Spent:
        """Move the trajectory on to time t, begin it at q and v, and take a step with the parameters that are given."""
        begun = time.process_time()
        self.q, self.v = self.states.later(self.q, self.v, (t - self.begin) / self.step)
        self.q[0], self.v[0], self.begin = q, v, t
        parameters = given()
        before = time.process_time()
        linear = self._linearised(*parameters)
        between = time.process_time()
        found = self._solver.solve(linear)
        if found.solved:
            by = self.problem.increments(found.x)
            self.q, self.v, self.f = self.states.moved(self.q, by["dq"]), self.v + by["dv"], self.f + by["df"]
        return Spent(t, between - before, time.process_time() - begun, found.iterations, found.solved)

    def plan(self, tau: Array) -> Plan:
        """The first step, with torques that the caller knows."""
        return Plan(self.begin, self.step, self.q[:2].copy(), self.v[:2].copy(), tau, self.states)


class Delayed:
    """Plans that act a `period` (s) after their state was measured, or later if it took longer to make them.

    `make(t, q, v)` gives the plan from a state at time t, or None if there is none, and what it cost.
    """

    __slots__ = ("_make", "_next", "_period", "_ready", "current")

    def __init__(self, make: Callable[[float, Array, Array], tuple[Plan | None, Spent]], period: float) -> None:
        self._make, self._period, self._next = make, period, list[Plan | None]()
        self.current: Plan

    def __repr__(self) -> str:
        return f"Delayed({self.current})"

    def restart(self, now: float, q: Array, v: Array) -> None:
        """Begin with a plan from this state; the last plan acts on if there is none."""
        for _ in range(5):
            made, _ = self._make(now, q, v)
        self.current, self._next, self._ready = made or self.current, [], now

    def update(self, now: float, q: Array, v: Array) -> Spent | None:
        """Take the plan that is ready and begin another one; None if the one before takes until later."""
        if now < self._ready - 1e-9:
            return None
        self.current = (self._next.pop() if self._next else None) or self.current
        made, spent = self._make(now + self._period, *self.current.ahead(now, q, v, self._period))
        self._next.append(made)
        self._ready = now + self._period * max(1, int(np.ceil(spent.total / self._period)))
        return spent
