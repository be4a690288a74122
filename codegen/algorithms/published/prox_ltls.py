"""proxLTLs as published: the augmented-Lagrangian method on M + mu J'J.

Sathya and Carpentier 2024 (hal-04443056), eq. 16 and 24: CRBA on link inertias H + mu K'K, factorised once. Gravity
enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.published.crba import composite
from codegen.algorithms.published.ltl_osim import jacobian
from codegen.algorithms.published.rnea import rnea
from codegen.recursions.iteration import Iteration
from codegen.recursions.plain_sweeps import stiffened
from codegen.recursions.plain_tree import PlainTree, missing, motion
from codegen.spatial import ltdl, zeros


def prox_ltls(robot: PlainTree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m)."""
    s, J = missing(robot, motion(robot, v), k), jacobian(robot)
    M = ltdl(composite(robot, tuple(stiffened(robot, mu))), robot.tree.dof_parent)
    free = tau - rnea(robot, v, zeros(robot.tree.nv), f_ext)

    # one step: the constraints push by what they lacked
    def step(lam: SX, a: SX) -> tuple[SX, SX]:
        lam = lam + mu * (s - J @ a)
        return lam, M.solve(free + J.T @ (lam + mu * s))

    def finish(lam: SX, a: SX) -> tuple[SX, SX]:
        return a, lam + mu * (s - J @ a)

    return Iteration((lam0, M.solve(free + J.T @ (lam0 + mu * s))), step, lambda _, a: s - J @ a, finish)
