"""PV-OSIM as published: the Delassus matrix by the backward sweep of PV.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676); Sathya and Carpentier 2024 (hal-04443056), Algorithm 4,
lines 9 and 10: O(n + m^2 d). Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.plain_sweeps import articulated, propagated
from codegen.recursions.plain_tree import PlainTree


def pv_osim(robot: PlainTree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    return propagated(robot, articulated(robot, robot.I)).at(-1, robot.tree.m)[1]
