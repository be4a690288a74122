"""KJR as published: the Delassus matrix by the inverse inertias of links.

Kreutz-Delgado, Jain, Rodriguez, Recursive formulation of operational-space control, IJRR 1992: articulated inertias,
every link's own inverse inertia, and link by link the coupling of every pair of contacts: O(n + m^2 d). Gravity plays
no part.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

from casadi import SX

from codegen.recursions.plain_sweeps import articulated
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import mirrored, zeros


def kjr(robot: PlainTree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    A, S, Omega, PX = articulated(robot, robot.I), robot.S, {-1: zeros(6, 6)}, {}
    # root to contacts: inverse inertias
    for i in robot.tree.support:
        z = A.D[i].solve(S[i].T)
        PX[i] = (SX.eye(S[i].size1()) - z.T @ A.U[i].T) @ robot.X[i]
        Omega[i] = mirrored(S[i] @ z + PX[i] @ Omega[robot.parent[i]] @ PX[i].T)
    W = zeros(robot.tree.m, robot.tree.m)
    # pairs of contacts: from their closest common ancestor out to both
    for first, second in combinations_with_replacement(robot.held, 2):
        meeting = robot.tree.closest(first.node, second.node)
        coupling = Omega[meeting]
        for i in reversed(robot.path(first.node)[: _steps(robot, first.node, meeting)]):
            coupling = PX[i] @ coupling
        for i in reversed(robot.path(second.node)[: _steps(robot, second.node, meeting)]):
            coupling = coupling @ PX[i].T
        W[first.rows, second.rows] = first.K @ coupling @ second.K.T
    return mirrored(W)


def _steps(robot: PlainTree, node: int, ancestor: int) -> int:
    """How many joints are between a node and an ancestor."""
    return len(robot.path(node)) - len(robot.path(ancestor))
