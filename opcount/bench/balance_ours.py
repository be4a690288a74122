"""The balance problem by `codegen.ocp`: inverse dynamics as constraints, one Newton step by a Riccati recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

import codegen
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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def stages() -> tuple[ocp.Stage, ocp.Stage]:
    """The stage of every node, and the last one: unknowns are increments of q, v and forces of feet (world axes)."""
    here = robot()
    nq, nv, feet = here.nq, here.nv, len(FEET)
    integrate, difference = (codegen.to_casadi(here, name, derivatives=1) for name in ("integrate", "difference"))
    fk, accelerations = (
        codegen.to_casadi(here, name, frames=FEET, derivatives=1) for name in ("fk", "frame_accelerations")
    )
    rnea = codegen.to_casadi(here, "rnea", external=FEET, derivatives=1)

    def state(stage: ocp.Stage, weight: float) -> tuple[ca.SX, ca.SX, ca.SX]:
        (dq, _), (dv, dv_next) = stage.unknown("dq", nv), stage.unknown("dv", nv)
        q, v = stage.call(integrate, stage.parameter("q", nq), dq), stage.parameter("v", nv) + dv
        apart = stage.call(difference, stage.parameter("q_wanted", nq), q)
        stage.cost(weight * STATE, ca.vertcat(apart, v - stage.parameter("v_wanted", nv)))
        return q, v, dv_next

    each, last = ocp.Stage(), ocp.Stage()
    q, v, dv_next = state(each, STEP)
    q_next, v_next = each.parameter("q_next", nq), each.parameter("v_next", nv) + dv_next
    f = each.parameter("f", 3 * feet) + each.unknown("df", 3 * feet)[0]
    a = (v_next - v) / STEP
    each.moves("dq", each.call(difference, q_next, each.call(integrate, q, STEP * v_next)))
    _, rotation, velocity = each.call(fk, q, v)
    acceleration = each.call(accelerations, q, v, a)
    forces = [rotation[3 * i : 3 * i + 3, :].T @ f[3 * i : 3 * i + 3] for i in range(feet)]
    tau = each.call(rnea, q, v, a, ca.horzcat(ca.horzcat(*forces).T, ca.SX(feet, 3)))
    each.zero(tau[:6], (acceleration[:, :3] + DAMPING * velocity[:, :3]).T)
    each.cost(STEP * CONTROL, tau[6:] - each.parameter("u_wanted", nv - 6))
    for x, y, z in (ca.vertsplit(f[3 * i : 3 * i + 3]) for i in range(feet)):
        outside = ca.vertcat(x - MU * z, -x - MU * z, y - MU * z, -y - MU * z, -z)
        each.cost(STEP * CONE, ca.fmax(outside, 0))
    state(last, LAST)
    return each, last


class Controller:
    """Real-time iterations, and the torques of the plan."""

    def __init__(self) -> None:
        problem = ocp.Problem(*stages(), NODES, known=2 * robot().nv)
        self.states = ocp.States(robot())
        self.horizon = ocp.Horizon(problem, ocp.Riccati(problem), self.states, STEP)
        self._inverse = codegen.build(robot(), "rnea")
        self._jacobian = codegen.build(robot(), "jacobian", frames=FEET)
        self._standing = np.tile([0.0, 0.0, -robot().gravity[2] * sum(b.inertia.mass for b in robot().bodies) / 4], 4)

    def restart(self, t: float, q: Array) -> None:
        """Forget what was planned, and stand here."""
        self.horizon.restart(t, q, self._standing)

    def parameters(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """What the stages are given."""
        each, last = self.horizon.trajectory()
        q, v = wanted(self.horizon.times)
        each |= {"q_wanted": q[:-1], "v_wanted": v[:-1], "u_wanted": np.tile(holding(), (NODES, 1))}
        return each, last | {"q_wanted": q[-1:], "v_wanted": v[-1:]}

    def torques(self, k: int) -> Array:
        """Those of a node (nv - 6)."""
        h = self.horizon
        a = (h.v[k + 1] - h.v[k]) / h.step
        pushes = np.einsum("fij,fi->j", self._jacobian(h.q[k])[:, :3], h.f[k].reshape(-1, 3))
        found: Array = self._inverse(h.q[k], h.v[k], a)[6:] - pushes[6:]
        return found

    def plan(self, t: float, q: Array, v: Array) -> tuple[ocp.Plan | None, ocp.Spent]:
        """The plan from a state at time t (None if there is none), and what it cost."""
        spent = self.horizon.iterate(t, q, v, self.parameters)
        return (self.horizon.plan(self.torques(0)) if spent.solved else None), spent

    def converged(self, t: float, q: Array, v: Array, iterations: int) -> tuple[Array, Array]:
        """States [q; v] (nodes + 1) and torques (nodes) after so many steps from rest."""
        self.restart(t, rest())
        for _ in range(iterations):
            self.plan(t, q, v)
        u = np.array([self.torques(k) for k in range(NODES)])
        return np.hstack([self.horizon.q, self.horizon.v]), u
