"""PV-OSIM: the Delassus matrix by the Popov-Vereshchagin backward sweep.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676); Sathya and Carpentier 2024 (hal-04443056), Algorithm 4,
lines 9 and 10: O(n + m^2 d). Spatial vectors [angular; linear] in body frames; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.delassus import by_joints
from codegen.recursions.parent_side_osim import parent_side_osim
from codegen.recursions.sweeps import inertia_sweep, joint_forces
from codegen.recursions.tree import Tree


def pv_osim(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    A = inertia_sweep(tree, tree.I)
    return parent_side_osim(tree, A, lambda held: by_joints(held, A, [joint_forces(held, e, A) for e in held.contacts]))
