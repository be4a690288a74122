"""proxPV: constrained forward dynamics by the Popov-Vereshchagin sweeps around a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), Algorithm 4: (W + 1/mu) lam+ = missing + lam / mu, W factorised once.
Singular constraints converge to the least-squares solution. Gravity enters through the resting motion.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.dual import dual, proximal, with_multipliers
from codegen.algorithms.iteration import Iteration
from codegen.tree import Tree


def prox_pv(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    problem = dual(tree, v, tau, f_ext, k)
    return proximal(problem.W, problem.missing, mu, lam0, lambda lam: with_multipliers(tree, problem, lam))
