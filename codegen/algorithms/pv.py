"""PV: constrained forward dynamics by the Popov-Vereshchagin algorithm.

Popov, Vereshchagin, Zenkevich; Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676); Sathya and Carpentier 2024
(hal-04443056), Algorithm 4 without its proximal loop: O(n + m^2 d + m^3). The constraints must be independent;
rows that depend on others are left out, and the status tells. Gravity enters through the resting motion, as upward
acceleration of the world.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.dual import dual, with_multipliers
from codegen.tree import Tree


def pv(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX) -> tuple[SX, SX]:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations k."""
    problem = dual(tree, v, tau, f_ext, k)
    lam = problem.W.semidefinite_solver()(problem.missing)
    return with_multipliers(tree, problem, lam), lam
