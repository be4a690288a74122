"""PV-early: constrained forward dynamics in O(n + m), eliminating multipliers as soon as a joint couples to them.

Sathya and Carpentier 2024 (hal-04443056), sec. VI; Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676).
A joint that yields to its rows, y = S' K', lets as many combinations of them follow as it has freedoms: an orthogonal
Q turns the rows so that just these couple; they become stiffness on the parent, the others go on. Of each branch one
that couples waits a joint longer, as the first may yield next to nothing. The constraints must be independent; rows
that nothing follows, up to the root, are left out there, and the status tells. Accelerations are measured from the bias
motion (`codegen.lowering.reduced_problem`), of which gravity is part.
"""

from __future__ import annotations

from casadi import SX

from codegen.recursions.early_elimination import ConstraintRows, eliminate_rows
from codegen.recursions.reduced_problem import Nodes, Solution
from codegen.recursions.tree import Tree
from codegen.spatial import HUGE, articulated_joint, zeros


def pv_early(tree: Tree, p: list[SX], tau: Nodes, s: SX) -> Solution:
    """Accelerations of joints and bodies (by nodes) and multipliers (m): M y = tau - S' p + J' lam, J y = s."""
    S, X, parent = tree.S, tree.X, tree.parent
    IA, pA, rows = [I.articulated() for I in tree.I], list(p), ConstraintRows.of(tree, s)
    joint, u, gone = {}, {}, {}
    # leaves to root: ABA, with the rows that the subtree still wants held; what lets go stiffens the parent
    for i in tree.inwards:
        joint[i] = articulated_joint(IA[i], S[i], tree.armature[i])
        u[i] = tau[i] - S[i].T @ pA[i]
        gone[i], kept = eliminate_rows(tree, i, rows.at(i), joint[i], u[i])
        rows = rows.passed(parent[i], kept, i)
        IA[parent[i]] += X[i].inertia(joint[i].projected_inertia(IA[i]).stiffer(gone[i].F, gone[i].L))
        pA[parent[i]] += X[i].force(joint[i].projected_force(pA[i], joint[i].D.solve(u[i]), tau[i]) - gone[i].force)
    a, y, lam = {-1: zeros(6)}, {}, {-1: rows.at(-1).l / HUGE}
    # root to leaves: multipliers, those that joint i let go and those that it kept, then accelerations
    for i in tree.outwards:
        a[i] = X[i] @ a[parent[i]]
        lam[i], push = gone[i].multipliers(a[i], lam[parent[i]][rows.places[i], :])
        y[i], a[i] = joint[i].motion(a[i], u[i] + push)
    return y, a, rows.of_contacts(tree, lam)
