"""proxPV: constrained forward dynamics by the Popov-Vereshchagin sweeps around a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), Algorithm 4: (W + 1/mu) lam+ = missing + lam / mu, factorised once, by the
motions of joints that contacts share (`codegen.recursions.damped_dual`). Singular constraints converge to the
least-squares solution. Joints that contacts lead (`codegen.elimination.links`) are left out beforehand. Gravity
enters through the bias motion.
"""

from __future__ import annotations

from casadi import SX

from codegen.elimination.eliminate import held_in_steps
from codegen.recursions.bundling import worth_bundling
from codegen.recursions.damped_dual import from_propagators, split
from codegen.recursions.force_propagators import force_propagators
from codegen.recursions.iteration import Iteration
from codegen.recursions.reduced import reduced
from codegen.recursions.reduced_problem import ReducedProblem
from codegen.recursions.sweeps import inertia_sweep
from codegen.recursions.tree import Tree


def prox_pv(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, mu: SX, lam0: SX) -> Iteration:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations near k."""
    return held_in_steps(tree, v, tau, f_ext, k, mu, lam0, swept)


def swept(rest: ReducedProblem, mu: SX, lam0: SX) -> Iteration:
    """The iteration on what is left."""
    tree, A, parts = rest.tree, inertia_sweep(rest.tree, rest.tree.I), split(rest.tree)
    propagators = force_propagators(tree, A, worth_bundling(tree), parts[0])
    return from_propagators(rest, A, propagators, reduced(tree, A, propagators, roots=False), parts, mu, lam0)
