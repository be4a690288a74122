"""RNEA, the recursive Newton-Euler algorithm: inverse dynamics.

Featherstone, Rigid Body Dynamics Algorithms, sec. 5.3. Spatial vectors [angular; linear] in body frames;
gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from casadi import SX, vertcat

from codegen.algorithms.motion import forces
from codegen.tree import Tree


def rnea(tree: Tree, v: SX, a: SX, f_ext: SX) -> SX:
    """Joint forces tau (nv) of the motion (q, v, a) under gravity and external wrenches."""
    f = forces(tree, v, a, f_ext)
    a_i = tree.split(a)
    tau = {}
    # leaves to root: what each joint transmits, handed on to the parent
    for i in tree.inwards:
        tau[i] = tree.S[i].T @ f[i] + tree.armature[i] @ a_i[i]
        f[tree.parent[i]] += tree.X[i].force(f[i])
    return vertcat(*[tau[i] for i in tree.outwards])
