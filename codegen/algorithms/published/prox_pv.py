"""proxPV as published: PV with a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), Algorithm 4. Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.iteration import Iteration
from codegen.recursions.plain_dual import popov_vereshchagin
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import diagonal, ldl


def prox_pv(robot: PlainTree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m)."""
    dual = popov_vereshchagin(robot, v, tau, f_ext, k)
    damped = ldl(dual.L + diagonal(1 / mu, robot.tree.m))

    # one step: line 13
    def step(lam: SX) -> tuple[SX]:
        return (damped.solve(dual.s + lam / mu),)

    return Iteration(step(lam0), step, lambda lam: dual.s - dual.L @ lam, lambda lam: (dual.accelerations(lam), lam))
