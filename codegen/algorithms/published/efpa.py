"""EFPA as published: the Delassus matrix by extended force propagators.

Wensing, Featherstone, Orin, ICRA 2012; over clusters C-EFPA, Chignoli et al. (arXiv 2311.13732), sec. VIII:
O(n + m d + m^2). Gravity plays no part.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

from casadi import SX

from codegen.recursions.plain_sweeps import articulated
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import mirrored, zeros


def efpa(robot: PlainTree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    A, S, parent, PX, own = articulated(robot, robot.I), robot.S, robot.parent, {}, {}
    # each link's propagator, and its inverse inertia with its parent held
    for i in robot.tree.support:
        z = A.D[i].solve(S[i].T)
        PX[i], own[i] = (SX.eye(S[i].size1()) - z.T @ A.U[i].T) @ robot.X[i], mirrored(S[i] @ z)
    K, Omega, W = {}, {}, zeros(robot.tree.m, robot.tree.m)
    for link in robot.held:
        e, path = link.node, robot.path(link.node)
        K[e, e], Omega[e, -1] = link.K, zeros(6, len(link.rows))
        # contact to root: the rows on every link
        for i in path:
            K[e, parent[i]] = K[e, i] @ PX[i]
        # root to contact: accelerations of every link that unit multipliers cause
        for i in reversed(path):
            Omega[e, i] = own[i] @ K[e, i].T + PX[i] @ Omega[e, parent[i]]
    # pairs of contacts: at their closest common ancestor
    for first, second in combinations_with_replacement(robot.held, 2):
        meeting = robot.tree.closest(first.node, second.node)
        W[first.rows, second.rows] = K[first.node, meeting] @ Omega[second.node, meeting]
    return mirrored(W)
