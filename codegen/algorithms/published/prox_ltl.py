"""proxLTL as published: a proximal dual solver with the Delassus matrix of LTL-OSIM.

Sathya and Carpentier 2024 (hal-04443056), eq. 13 (Carpentier, Budhiraja, Mansard, RSS 2021). Gravity enters as upward
acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.published.crba import crba
from codegen.algorithms.published.ltl_osim import jacobian
from codegen.algorithms.published.rnea import rnea
from codegen.recursions.iteration import Iteration
from codegen.recursions.plain_tree import PlainTree, missing, motion
from codegen.spatial import diagonal, ldl, ltdl, mirrored, zeros


def prox_ltl(robot: PlainTree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m)."""
    M = ltdl(crba(robot), robot.tree.dof_parent)
    Y = M.forward(jacobian(robot).T)
    u = M.forward(tau - rnea(robot, v, zeros(robot.tree.nv), f_ext))
    W = mirrored(Y.T @ M.scale(Y))
    damped, s = ldl(W + diagonal(1 / mu, robot.tree.m)), missing(robot, motion(robot, v), k) - Y.T @ M.scale(u)

    # one step: the damped dual again, its damping undone by the last multipliers
    def step(lam: SX) -> tuple[SX]:
        return (damped.solve(s + lam / mu),)

    def finish(lam: SX) -> tuple[SX, SX]:
        return M.backward(M.scale(u + Y @ lam)), lam

    return Iteration(step(lam0), step, lambda lam: s - W @ lam, finish)
