"""cABA-OSIM as published: the inverse of the damped Delassus matrix.

Sathya and Carpentier 2024 (hal-04443056), Algorithm 5: PV-OSIMr on inertias H + mu K'K with rows mu K gives L, and
(W + 1/mu)^-1 = mu 1 - L: O(n + m^2). Gravity plays no part.
"""

from __future__ import annotations

from dataclasses import replace

from casadi import SX

from codegen.recursions.plain_branching import branching_osim
from codegen.recursions.plain_sweeps import articulated, stiffened, weighted
from codegen.recursions.plain_tree import PlainTree
from codegen.spatial import diagonal


def caba_osim(robot: PlainTree, mu: SX) -> SX:
    """(W + 1/mu)^-1 (m x m), symmetric, over the rows of all contacts in their order."""
    held = [replace(link, K=weighted(mu, link)) for link in robot.held]
    A = articulated(robot, stiffened(robot, mu))
    return diagonal(mu, robot.tree.m) - branching_osim(robot, A, held)[0]
