"""cABA-OSIM, swept: the inverse of the damped Delassus matrix applied to a vector, in O(n + m) for any tree.

With inertias H + mu K'K, (W + 1/mu)^-1 b = mu (b - K a), where a are the accelerations under the forces K' mu b: the
identity of cABA-OSIM (Sathya and Carpentier 2024, hal-04443056, eq. 40). That paper's cABA-OSIMf
(`codegen.algorithms.caba_osimf`) forms the blocks of branches first; here the vector itself is carried by the sweeps
that would make them. Spatial vectors [angular; linear] in body frames; gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.sweeps import (
    acceleration_sweep,
    add_contact_forces,
    bias_force_sweep,
    contact_accelerations,
    inertia_sweep,
    stiffened,
)
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def caba_osim_swept(tree: Tree, b: SX, mu: SX) -> SX:
    """x (m) with (W + 1/mu) x = b."""
    A, still = inertia_sweep(tree, stiffened(tree, mu)), {i: zeros(S.size) for i, S in enumerate(tree.S)}
    p = add_contact_forces(tree, [zeros(rows) for rows in tree.rows], mu * b)
    u = bias_force_sweep(tree, A, p, still, tree.support[::-1])
    _, a = acceleration_sweep(tree, A, u, tree.support)
    return mu * (b - contact_accelerations(tree, a))
