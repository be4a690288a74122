"""Differences on the configuration manifold: the logarithm of every joint's motion, inverse of `integrate`.

Rotations are taken the shorter way round (at most pi). Of joints that implicit loops tie, the independent ones count.
Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def difference(tree: Tree, q1: SX) -> SX:
    """The constant velocity dv (nv) that takes q to q1 in unit time."""
    steps = [
        part.joint.difference(part.q, end) if end.nnz() else zeros(part.joint.nv)
        for part, end in zip(tree.parts, tree.positions(q1), strict=True)
    ]
    return tree.own @ vertcat(*steps)
