"""ABA, the articulated-body algorithm: forward dynamics in O(n).

Featherstone, Rigid Body Dynamics Algorithms, sec. 7.3, on the difference to a bias motion, so that the
recursion is the homogeneous one. Spatial vectors [angular; linear] in body frames; gravity enters through
the bias motion, as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.recursions.motion import bias_motion, forces
from codegen.recursions.tree import Tree
from codegen.spatial import articulated_joint, zeros


def aba(tree: Tree, v: SX, tau: SX, f_ext: SX) -> SX:
    """Joint accelerations (nv) under joint forces tau, gravity and external wrenches."""
    a0, motion = bias_motion(tree, v)
    S, X, parent, tau_i = tree.S, tree.X, tree.parent, tree.split(tau - vertcat(*tree.armature_forces(v, a0)))
    IA = [I.articulated() for I in tree.I]
    pA = forces(tree, motion, f_ext)
    joint, u = {}, {}
    # leaves to root: articulated inertia and bias force of the subtree that hangs on each joint
    for i in tree.inwards:
        joint[i] = articulated_joint(IA[i], S[i], tree.armature[i])
        u[i] = tau_i[i] - S[i].T @ pA[i]
        IA[parent[i]] += X[i].inertia(joint[i].projected_inertia(IA[i]))
        pA[parent[i]] += X[i].force(joint[i].projected_force(pA[i], joint[i].D.solve(u[i]), tau_i[i]))
    a, qdd = {-1: zeros(6)}, {}
    # root to leaves: accelerations, measured from the bias motion
    for i in tree.outwards:
        qdd[i], a[i] = joint[i].motion(X[i] @ a[parent[i]], u[i])
    return a0 + vertcat(*[qdd[i] for i in tree.outwards])
