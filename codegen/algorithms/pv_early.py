"""PV-early: constrained forward dynamics in O(n + m), eliminating multipliers as soon as a joint couples to them.

Sathya and Carpentier 2024 (hal-04443056), sec. VI; Sathya, Bruyninckx, Decre, Pipeleers 2023 (arXiv 2310.03676).
A joint that yields to its rows, y = S' K', lets as many combinations of them follow as it has freedoms: an orthogonal
Q turns the rows so that just these couple; they become stiffness on the parent, the others go on. Of each branch one
that couples waits a joint longer, as the first may yield next to nothing. The constraints must be independent; rows
that no joint can follow are held softly. Gravity enters through the resting motion.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.algorithms.held_rows import Rows, let_go
from codegen.algorithms.motion import forces, motions, resting, shortfall
from codegen.spatial import ldl, zeros
from codegen.tree import Tree


def pv_early(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX) -> tuple[SX, SX]:
    """Joint accelerations (nv) and multipliers (m): M a + C = tau + J' lam, contact accelerations k."""
    a0, S, X, parent = resting(tree, v), tree.S, tree.X, tree.parent
    motion, tau_i = motions(tree, v, a0), tree.split(tau)
    IA, pA = [I.articulated() for I in tree.I], forces(tree, motion, f_ext)
    rows = Rows.of(tree, shortfall(tree, motion, k))
    U, D, u, gone = {}, {}, {}, {}
    # leaves to root: ABA, with the rows that the subtree still wants held; what lets go stiffens the parent
    for i in tree.inwards:
        U[i] = IA[i] @ S[i]
        D[i] = ldl(S[i].T @ U[i] + tree.armature[i])
        u[i] = tau_i[i] - S[i].T @ pA[i]
        gone[i], kept = let_go(tree, i, rows.at(i), U[i], D[i], u[i])
        rows = rows.passed(parent[i], kept, i)
        IA[parent[i]] += X[i].inertia(IA[i].without(S[i], U[i], D[i])) + gone[i].inertia
        pA[parent[i]] += X[i].force(pA[i] + U[i] @ D[i].solve(u[i])) - gone[i].force
    a, qdd, lam = {-1: zeros(6)}, {}, {-1: zeros(rows.at(-1).size)}
    # root to leaves: multipliers, those that joint i let go and those that it kept, then accelerations
    for i in tree.outwards:
        lam[i] = gone[i].multipliers(a[parent[i]], lam[parent[i]][rows.places[i], :])
        a[i] = X[i] @ a[parent[i]]
        qdd[i] = D[i].solve(u[i] + gone[i].y @ lam[i] - U[i].T @ a[i])
        a[i] += S[i] @ qdd[i]
    return a0 + vertcat(*[qdd[i] for i in tree.outwards]), rows.of_contacts(tree, lam)
