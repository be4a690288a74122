"""PV-OSIMr as published: the Delassus matrix over branching links.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676), sec. V; Sathya and Carpentier 2024 (hal-04443056),
Algorithm 5, lines 5 to 20: O(n + m^2). Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.plain_branching import branching_osim
from codegen.recursions.plain_sweeps import articulated
from codegen.recursions.plain_tree import PlainTree


def pv_osimr(robot: PlainTree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    return branching_osim(robot, articulated(robot, robot.I), robot.held)[0]
