"""ABA-prox: constrained forward dynamics by a proximal dual solver and the factors of M that articulated inertias give.

The iteration is proxLTL's (Sathya and Carpentier 2024, hal-04443056, eq. 13; `codegen.algorithms.prox_ltl`):
(W + 1/mu) lam+ = missing + lam / mu, here by the motions of joints that contacts share
(`codegen.recursions.damped_dual`). M is not formed: its factors are those of `codegen.algorithms.aba_osim`, and solves
with it are sweeps. Accelerations are measured from the bias motion (`codegen.lowering.reduced_problem`), of which
gravity is part.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.aba_osim import factors, half
from codegen.recursions.damped_dual import from_propagators, split
from codegen.recursions.delassus import by_joints
from codegen.recursions.force_propagators import ForcePropagators
from codegen.recursions.iteration import Iteration
from codegen.recursions.reduced_problem import Nodes
from codegen.recursions.sweeps import bias_force_sweep, inertia_sweep
from codegen.recursions.tree import Tree


def aba_prox(tree: Tree, p: list[SX], tau: Nodes, s: SX, mu: SX, lam0: SX) -> Iteration:
    """Accelerations of joints and bodies (by nodes) and multipliers (m): M y = tau - S' p + J' lam, J y near s."""
    A, parts = inertia_sweep(tree, tree.I), split(tree)
    u, L = bias_force_sweep(tree, A, p, tau, tree.inwards), factors(tree, A)
    Y = [half(tree, A, L, contact) for contact in tree.contacts]
    alone = [{i: y for i, y in Y_e.items() if i not in parts[0]} for Y_e in Y]
    start = {("contact", e): (contact.node, contact.force) for e, contact in enumerate(tree.contacts)}
    y = {i: {("contact", e): Y_e[i] for e, Y_e in enumerate(Y) if i in Y_e} for i in tree.support}
    K = ForcePropagators(start, {}, {}, y, {}, {})
    return from_propagators(tree, A, u, s, K, by_joints(tree, A, alone), parts, mu, lam0)
