"""cABA-OSIMf: the inverse of the damped Delassus matrix applied to a vector, by branches and base.

Sathya and Carpentier 2024 (hal-04443056), sec. VI: with inertias H + mu K'K, the matrix inversion lemma gives
(W + 1/mu)^-1 = mu 1 - mu (L1 + K1' D1^-1 K1) mu (eq. 40 and 41). L1 is the Delassus matrix of the stiffened robot with
its root joint (a floating base: all six freedoms) locked, block-diagonal over the branches of the base, by PV-OSIMr;
K1 are the unit forces of the contacts as the root joint, of inertia D1, feels them. The sum is never formed. Spatial
vectors [angular; linear] in body frames; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.bundling import worth_bundling
from codegen.recursions.force_propagators import force_propagators
from codegen.recursions.reduced import reduced
from codegen.recursions.sweeps import inertia_sweep, stiffened
from codegen.recursions.tree import Tree


def caba_osimf(tree: Tree, b: SX, mu: SX) -> SX:
    """x (m) with (W + 1/mu) x = b."""
    A = inertia_sweep(tree, stiffened(tree, mu))
    propagators = force_propagators(tree, A, worth_bundling(tree, stiff=True))
    push = mu * b
    seen = reduced(tree, A, propagators, roots=False) @ push
    for i in (i for i in tree.support if tree.parent[i] < 0):
        K1 = propagators.at(tree, i)
        seen += K1.T @ A[i].D.solve(K1 @ push)
    return push - mu * seen
