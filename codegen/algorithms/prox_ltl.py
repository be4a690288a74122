"""proxLTL: constrained forward dynamics by the LTL factorisation and a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), eq. 13 (Carpentier, Budhiraja, Mansard, RSS 2021): the Delassus matrix by
LTL-OSIM, and (W + 1/mu) lam+ = missing + lam / mu, by the motions of joints that contacts share
(`codegen.recursions.damped_dual`), without the joints that contacts lead (`codegen.elimination.links`). The factors of
M are those of articulated inertias (`codegen.algorithms.ltl_osim`), and solve with it by sweeps. Gravity enters through
the bias motion.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.ltl_osim import factors, half
from codegen.elimination.eliminate import held_in_steps
from codegen.recursions.damped_dual import from_propagators, split
from codegen.recursions.delassus import by_joints
from codegen.recursions.force_propagators import ForcePropagators
from codegen.recursions.iteration import Iteration
from codegen.recursions.reduced_problem import ReducedProblem
from codegen.recursions.sweeps import inertia_sweep
from codegen.recursions.tree import Tree


def prox_ltl(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    return held_in_steps(tree, v, tau, f_ext, k, mu, lam0, factorised)


def factorised(rest: ReducedProblem, mu: SX, lam0: SX) -> Iteration:
    """The iteration on what is left."""
    tree, A, parts = rest.tree, inertia_sweep(rest.tree, rest.tree.I), split(rest.tree)
    L = factors(tree, A)
    Y = [half(tree, A, L, contact) for contact in tree.contacts]
    alone = [{i: y for i, y in Y_e.items() if i not in parts[0]} for Y_e in Y]
    start = {("contact", e): (contact.node, contact.force) for e, contact in enumerate(tree.contacts)}
    y = {i: {("contact", e): Y_e[i] for e, Y_e in enumerate(Y) if i in Y_e} for i in tree.support}
    return from_propagators(
        rest, A, ForcePropagators(start, {}, {}, y, {}, {}), by_joints(tree, A, alone), parts, mu, lam0
    )
