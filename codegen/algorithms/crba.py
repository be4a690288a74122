"""CRBA, the composite-rigid-body algorithm: the joint-space inertia matrix.

Featherstone, Rigid Body Dynamics Algorithms, sec. 6.2. Spatial vectors [angular; linear] in body frames;
gravity plays no part.
"""

from __future__ import annotations

from collections.abc import Sequence

from casadi import SX

from codegen.spatial import NodeInertia, mirrored
from codegen.tree import Tree


def crba(tree: Tree) -> SX:
    """The joint-space inertia matrix M (nv x nv), symmetric, with the armatures on its diagonal."""
    return composite(tree, tree.I)


def composite(tree: Tree, inertias: Sequence[NodeInertia]) -> SX:
    """The same of a tree whose nodes have other inertias; the world's last."""
    S, X, parent, dofs = tree.S, tree.X, tree.parent, tree.dofs
    Ic = list(inertias)
    M = SX(tree.nv, tree.nv)
    # leaves to root: the composite inertia, and the forces its joint's unit motions need along the way up
    for i in tree.inwards:
        F = Ic[i] @ S[i]
        M[dofs[i], dofs[i]] = S[i].T @ F + tree.armature[i]
        for child, j in zip(tree.path(i), tree.path(i)[1:], strict=False):
            F = X[child].force(F)
            M[dofs[j], dofs[i]] = S[j].T @ F
        Ic[parent[i]] += X[i].inertia(Ic[i])
    return mirrored(M)
