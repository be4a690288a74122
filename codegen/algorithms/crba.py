"""CRBA, the composite-rigid-body algorithm: the joint-space inertia matrix.

Featherstone, Rigid Body Dynamics Algorithms, sec. 6.2. Spatial vectors [angular; linear] in body frames;
gravity plays no part.
"""

from __future__ import annotations

from casadi import SX, horzcat

from codegen.recursions.tree import Tree
from codegen.spatial import mirrored


def crba(tree: Tree) -> SX:
    """The joint-space inertia matrix M (nv x nv), symmetric, with the armatures on its diagonal."""
    S, X, parent, dofs = tree.S, tree.X, tree.parent, tree.dofs
    Ic = list(tree.I)
    M = SX(tree.nv, tree.nv)
    felt: list[list[SX]] = [[] for _ in Ic]
    moving: list[list[int]] = [[] for _ in Ic]
    # leaves to root: the composite inertia, and the forces that the unit motions of its and all outer joints need
    for i in tree.inwards:
        F, outer = horzcat(Ic[i] @ S[i], *felt[i]), [*range(dofs[i].start, dofs[i].stop), *moving[i]]
        M[dofs[i], outer] = S[i].T @ F
        M[dofs[i], dofs[i]] += tree.armature[i]
        felt[parent[i]].append(X[i].force(F))
        moving[parent[i]] += outer
        Ic[parent[i]] += X[i].inertia(Ic[i])
    return mirrored(M)
