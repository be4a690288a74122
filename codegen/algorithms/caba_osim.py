"""cABA-OSIM: the inverse of the damped Delassus matrix, without forming or inverting it.

Sathya and Carpentier 2024 (hal-04443056), Algorithm 5: PV-OSIMr on inertias H + mu K'K gives L, and
(W + 1/mu)^-1 = mu 1 - mu L mu: O(n + m^2). Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.bundling import mixed, worth_bundling
from codegen.recursions.force_propagators import force_propagators
from codegen.recursions.parent_side_osim import parent_side_osim
from codegen.recursions.reduced import reduced
from codegen.recursions.sweeps import inertia_sweep, stiffened
from codegen.recursions.tree import Tree
from codegen.spatial import diagonal, mirrored


def caba_osim(tree: Tree, mu: SX) -> SX:
    """(W + 1/mu)^-1 (m x m), symmetric, over the rows of all contacts in their order."""
    A, bundled = inertia_sweep(tree, stiffened(tree, mu)), worth_bundling(tree, stiff=True)
    unit = mu if mu.size1() == 1 else SX(1)
    W = parent_side_osim(tree, A, lambda held: reduced(held, A, force_propagators(held, A, bundled)), unit, mixed(tree))
    scale = diagonal(mu / unit, tree.m)
    return diagonal(mu, tree.m) - mirrored(scale @ W @ scale)
