"""cABA-OSIMf as published: the inverse of the damped Delassus matrix applied to a vector, by branches and base.

Sathya and Carpentier 2024 (hal-04443056), sec. VI.B: with L1 the matrix of Algorithm 5 for locked roots and K1 the rows
on the roots, L0 = L1 + K1 (H1)^-1 K1' (eq. 41), which is not formed. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.plain_branching import branching_osim
from codegen.recursions.plain_sweeps import articulated, stiffened
from codegen.recursions.plain_tree import PlainTree


def caba_osimf(robot: PlainTree, b: SX, mu: SX) -> SX:
    """x (m) with (W + 1/mu) x = b."""
    A = articulated(robot, stiffened(robot, mu))
    L1, K1 = branching_osim(robot, A, robot.held, to_roots=True)
    push = mu * b
    seen = L1 @ push
    for i, K in K1.items():
        y = (K @ robot.S[i]).T
        seen += y.T @ A.D[i].solve(y @ push)
    return push - mu * seen
