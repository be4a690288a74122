"""ABA, the articulated-body algorithm: forward dynamics in O(n).

Featherstone, Rigid Body Dynamics Algorithms, sec. 7.3, on the difference to a resting motion, so that the
recursion is the homogeneous one. Spatial vectors [angular; linear] in body frames; gravity enters through
the resting motion, as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.algorithms.motion import forces, motions, resting
from codegen.spatial import ldl, zeros
from codegen.tree import Tree


def aba(tree: Tree, v: SX, tau: SX, f_ext: SX) -> SX:
    """Joint accelerations (nv) under joint forces tau, gravity and external wrenches."""
    a0 = resting(tree, v)
    S, X, parent, tau_i = tree.S, tree.X, tree.parent, tree.split(tau)
    IA = [I.articulated() for I in tree.I]
    pA = forces(tree, motions(tree, v, a0), f_ext)
    U, D, u = {}, {}, {}
    # leaves to root: articulated inertia and bias force of the subtree that hangs on each joint
    for i in tree.inwards:
        U[i] = IA[i] @ S[i]
        D[i] = ldl(S[i].T @ U[i] + tree.armature[i])
        u[i] = tau_i[i] - S[i].T @ pA[i]
        IA[parent[i]] += X[i].inertia(IA[i].without(S[i], U[i], D[i]))
        pA[parent[i]] += X[i].force(pA[i] + U[i] @ D[i].solve(u[i]))
    a, qdd = {-1: zeros(6)}, {}
    # root to leaves: accelerations, measured from the resting motion
    for i in tree.outwards:
        a[i] = X[i] @ a[parent[i]]
        qdd[i] = D[i].solve(u[i] - U[i].T @ a[i])
        a[i] += S[i] @ qdd[i]
    return a0 + vertcat(*[qdd[i] for i in tree.outwards])
