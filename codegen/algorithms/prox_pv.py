"""proxPV: constrained forward dynamics by the Popov-Vereshchagin sweeps around a proximal dual solver.

Sathya and Carpentier 2024 (hal-04443056), Algorithm 4: (W + 1/mu) lam+ = missing + lam / mu, factorised once, by the
motions of joints that contacts share (`codegen.recursions.damped_dual`). Singular constraints converge to the
least-squares solution. Accelerations are measured from the bias motion (`codegen.lowering.reduced_problem`), of which
gravity is part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.bundling import worth_bundling
from codegen.recursions.damped_dual import from_propagators, split
from codegen.recursions.force_propagators import force_propagators
from codegen.recursions.iteration import Iteration
from codegen.recursions.reduced import reduced
from codegen.recursions.reduced_problem import Nodes
from codegen.recursions.sweeps import bias_force_sweep, inertia_sweep
from codegen.recursions.tree import Tree


def prox_pv(tree: Tree, p: list[SX], tau: Nodes, s: SX, mu: SX, lam0: SX) -> Iteration:
    """Accelerations of joints and bodies (by nodes) and multipliers (m): M y = tau - S' p + J' lam, J y near s."""
    # leaves to root: articulated inertias, bias forces, and the contacts' unit forces through free joints
    A, parts = inertia_sweep(tree, tree.I), split(tree)
    u = bias_force_sweep(tree, A, p, tau, tree.inwards)
    K = force_propagators(tree, A, worth_bundling(tree), parts[0])
    # the dual system, solved again in every step; then, root to leaves, accelerations
    return from_propagators(tree, A, u, s, K, reduced(tree, A, K, roots=False), parts, mu, lam0)
