"""PV-OSIMf as published: systems with the Delassus matrix, by branches and base.

Sathya and Carpentier 2024 (hal-04443056), sec. VI.B, and Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676):
W = L1 + K1 (H1)^-1 K1' with L1 block-diagonal over the branches of the roots; the matrix inversion lemma needs its
Cholesky factors, and those of a matrix of the root's order. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.plain_sweeps import articulated, propagated, solved_by_branches
from codegen.recursions.plain_tree import PlainTree


def pv_osimf(robot: PlainTree, b: SX) -> SX:
    """x (m) with W x = b."""
    A = articulated(robot, robot.I)
    return solved_by_branches(robot, A, propagated(robot, A), b)
