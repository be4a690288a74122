"""PV-OSIMr: the Delassus matrix by PV-OSIM over branching links only.

Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676); Sathya and Carpentier 2024 (hal-04443056), Algorithm 5,
lines 5 to 20: O(n + m^2). Where sets of constraints meet, all of them are carried on as the unit forces of the
meeting link, if that is cheaper than carrying them one by one. Gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.bundling import worth_bundling
from codegen.recursions.force_propagators import force_propagators
from codegen.recursions.parent_side_osim import parent_side_osim
from codegen.recursions.reduced import reduced
from codegen.recursions.sweeps import inertia_sweep
from codegen.recursions.tree import Tree


def pv_osimr(tree: Tree) -> SX:
    """W = J M^-1 J' (m x m), symmetric, over the rows of all contacts in their order."""
    A, bundled = inertia_sweep(tree, tree.I), worth_bundling(tree)
    return parent_side_osim(tree, A, lambda held: reduced(held, A, force_propagators(held, A, bundled)))
