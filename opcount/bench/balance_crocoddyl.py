"""The balance problem by Crocoddyl's SolverFDDP, with its own actions or with rigidc's C in them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import crocoddyl
import numpy as np

from codegen import ocp
from opcount.bench.balance import (
    CONE,
    CONTROL,
    DAMPING,
    FEET,
    LAST,
    MU,
    NODES,
    STATE,
    STEP,
    holding,
    rest,
    robot,
    wanted,
)
from opcount.bench.crocoddyl_actions import Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def standing() -> Node:
    """A node on four feet, with the costs of controls and forces."""
    parts = Node(robot(), FEET, 3, DAMPING, "LOCAL_WORLD_ALIGNED")
    parts.cost("control", crocoddyl.ResidualModelControl(parts.state, holding()), CONTROL)
    cone = crocoddyl.FrictionCone(np.eye(3), MU, 4, False)
    bounds = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(cone.lb, cone.ub))
    for foot in FEET:
        number = parts.state.pinocchio.getFrameId(foot)
        residual = crocoddyl.ResidualModelContactFrictionCone(parts.state, number, cone, parts.nu, True)
        parts.cost(foot, residual, CONE, bounds)
    return parts


class Controller:
    """One iteration of FDDP in every period, from the trajectory before; `ours` chooses the actions."""

    def __init__(self, *, ours: bool) -> None:
        self.references, nodes = list[Any](), list[Any]()
        for k in range(NODES + 1):
            parts = standing() if k < NODES else Node(robot())
            residual = crocoddyl.ResidualModelState(parts.state, np.append(rest(), np.zeros(robot().nv)), parts.nu)
            activation = crocoddyl.ActivationModelWeightedQuad(STATE)
            parts.cost("state", residual, 1.0 if k < NODES else LAST, activation)
            self.references.append(residual)
            action = parts.ours() if ours and k < NODES else parts.theirs()
            nodes.append(crocoddyl.IntegratedActionModelEuler(action, STEP if k < NODES else 0.0))
        self.states, self._nv = ocp.States(robot()), robot().nv
        self.problem = crocoddyl.ShootingProblem(np.append(rest(), np.zeros(self._nv)), nodes[:-1], nodes[-1])
        self.solver = crocoddyl.SolverFDDP(self.problem)

    def restart(self, t: float, q: Array) -> None:
        """Forget what was planned, and stand here."""
        self.begin, self.q, self.v = t, np.tile(q, (NODES + 1, 1)), np.zeros((NODES + 1, self._nv))
        self.u = np.tile(holding(), (NODES, 1))

    def plan(self, t: float, q: Array, v: Array, iterations: int = 1) -> tuple[ocp.Plan | None, ocp.Spent]:
        """The plan from a state at time t (None if there is none), and what it cost."""
        begun, part = time.process_time(), (t - self.begin) / STEP
        self.q, self.v = self.states.later(self.q, self.v, part)
        self.u = self.u + part * (np.vstack([self.u[1:], self.u[-1:]]) - self.u)
        self.q[0], self.v[0], self.begin = q, v, t
        wanted_q, wanted_v = wanted(t + STEP * np.arange(NODES + 1))
        for residual, reference in zip(self.references, np.hstack([wanted_q, wanted_v]), strict=True):
            residual.reference = reference
        self.problem.x0 = np.append(q, v)
        before = time.process_time()
        self.solver.solve([*np.hstack([self.q, self.v])], [*self.u], iterations, False)
        between = time.process_time()
        x, u = np.array([*self.solver.xs]), np.array([*self.solver.us])
        solved = bool(np.isfinite(x).all() and np.isfinite(u).all())
        if solved:
            self.q, self.v, self.u = x[:, : -self._nv], x[:, -self._nv :], u
        plan = ocp.Plan(t, STEP, self.q[:2].copy(), self.v[:2].copy(), self.u[0], self.states)
        spent = ocp.Spent(t, between - before, time.process_time() - begun, self.solver.iter, solved)
        return (plan if solved else None), spent

    def converged(self, t: float, q: Array, v: Array, iterations: int) -> tuple[Array, Array]:
        """States [q; v] (nodes + 1) and torques (nodes) after so many steps from rest."""
        self.restart(t, rest())
        self.solver.th_stop = 1e-12
        self.plan(t, q, v, iterations)
        return np.hstack([self.q, self.v]), self.u

    def cost(self, x: Array, u: Array) -> float:
        """Crocoddyl's cost of states and torques."""
        return float(self.problem.calc([*x], [*u]))

    def gap(self, x: Array, u: Array) -> float:
        """How far states are from those that the torques lead to."""
        led = np.array([*self.problem.rollout([*u])])
        return float(np.abs(led - x).max())
