"""cABA-OSIMf: the inverse of the damped Delassus matrix applied to a vector.

Sathya and Carpentier 2024 (hal-04443056), sec. VI: with inertias H + mu K'K, (W + 1/mu)^-1 b = mu (b - K a), where a
are the accelerations under the forces K' mu b. There the blocks of branches are formed first; one vector alone is
carried by the sweeps that would make them, in any tree: O(n + m). Spatial vectors [angular; linear] in body frames;
gravity plays no part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.sweeps import articulated, pushed, rolled_out, seen, stiffened, transmitted
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


def caba_osimf(tree: Tree, b: SX, mu: SX) -> SX:
    """x (m) with (W + 1/mu) x = b."""
    A, still = articulated(tree, stiffened(tree, mu)), {i: zeros(S.size) for i, S in enumerate(tree.S)}
    p = pushed(tree, [zeros(rows) for rows in tree.rows], mu * b)
    u = transmitted(tree, A, p, still, tree.support[::-1])
    _, a = rolled_out(tree, A, u, tree.support)
    return mu * (b - seen(tree, a))
