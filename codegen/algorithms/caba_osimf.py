"""cABA-OSIMf: the inverse of the damped Delassus matrix applied to a vector, for trees that branch at their root.

Sathya and Carpentier 2024 (hal-04443056), sec. VI: as PV-OSIMf, each branch's block damped by 1/mu, so that none can be
singular. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.algorithms.pv_osimf import split_at_root
from codegen.algorithms.sweeps import articulated
from codegen.spatial import LDL, diagonal, ldl
from codegen.tree import Tree


def caba_osimf(tree: Tree, b: SX, mu: SX) -> SX:
    """x (m) with (W + 1/mu) x = b."""

    def damped(L: SX, rows: list[int]) -> LDL:
        return ldl(L + diagonal(1 / (mu if mu.size1() == 1 else mu[rows]), len(rows)))

    return split_at_root(tree, articulated(tree, tree.I), b, damped)
