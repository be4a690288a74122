"""The inverse of the joint-space inertia matrix, directly, by the articulated-body recursion.

Rodriguez, Jain, Kreutz-Delgado, A spatial operator algebra for manipulator modeling and control, IJRR 1991: with the
forces L tau that ABA's sweep towards the root, at rest and without gravity, leaves at the joints, M^-1 = L' D^-1 L.
Spatial vectors [angular; linear] in body frames.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from casadi import SX, diag, sparsify, vertcat

from codegen.recursions.products import Product
from codegen.recursions.tree import Tree
from codegen.spatial import articulated_joint, zeros


@dataclass(frozen=True, slots=True)
class InverseFactors:
    """M^-1 = L' D^-1 L: L (nv x nv) with zeros where joints lie on different branches, and D's diagonal d (nv)."""

    L: SX
    d: SX

    def __str__(self) -> str:
        return f"factors of the inverse of M, {self.d.numel()} degrees of freedom"

    @property
    def strict(self) -> SX:
        """L without the ones on its diagonal."""
        return sparsify(self.L - SX.eye(self.L.size1()))

    def scaled(self, B: SX) -> SX:
        """D^-1 B for a matrix B of nv rows."""
        return diag(1 / self.d) @ B

    def solve(self, B: SX) -> SX:
        """M^-1 B for a matrix B of nv rows."""
        return self.L.T @ self.scaled(self.L @ B)


def minverse(tree: Tree) -> Product:
    """M^-1 (nv x nv), symmetric."""
    own = inverse_factors(tree)
    scaled = own.scaled(own.L)
    return Product(own.strict, scaled, scaled, transposed=True, symmetric=True)


def inverse_factors(tree: Tree, trunk: Collection[int] = ()) -> InverseFactors:
    """The factors of M^-1; column c of L are the forces left by a unit force along axis c.

    The joints of a `trunk`, nodes with all that carry them, are held: d is one there, rows of L are the forces that
    come to its joints, and the others are factors of the inverse that limbs have by themselves.
    """
    S, X, parent, dofs, n = tree.S, tree.X, tree.parent, tree.dofs, tree.nv
    IA = [I.articulated() for I in tree.I]
    F = [zeros(rows, n) for rows in tree.rows]
    halves, pivots = {}, {}
    # leaves to root: articulated inertia, and the force that the subtree's unit forces leave on each body
    for i in tree.inwards:
        own = zeros(S[i].size, n)
        own[:, dofs[i]] = SX.eye(S[i].size)
        u = own - S[i].T @ F[i]
        if i in trunk:
            halves[i], pivots[i] = u, SX.ones(S[i].size)
            F[parent[i]] += X[i].force(F[i])
            continue
        joint = articulated_joint(IA[i], S[i], tree.armature[i])
        halves[i], pivots[i] = joint.D.forward(u), vertcat(*joint.D.d)
        IA[parent[i]] += X[i].inertia(joint.projected_inertia(IA[i]))
        F[parent[i]] += X[i].force(joint.projected_force(F[i], joint.D.solve(u), own))
    L, d = (vertcat(*[rows[i] for i in tree.outwards]) for rows in (halves, pivots))
    return InverseFactors(sparsify(L), d)
