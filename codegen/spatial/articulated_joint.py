"""Articulated joint: the inertia and the forces that a free joint transmits, and how its body accelerates.

Featherstone, Rigid Body Dynamics Algorithms, sec. 7.3. Along axes on which a joint without armature alone decides how
its body moves, nothing of that need be computed: the force is the joint's own, the acceleration what it comes to.
"""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, diag, horzsplit, is_equal, sum1, vertsplit

from codegen.spatial.axes import without_rows, zeros
from codegen.spatial.node import NodeInertia, Subspace
from codegen.spatial.solve import LDL, ldl


@dataclass(frozen=True, slots=True)
class ArticulatedJoint:
    """S, U = IA S and the factors of D = S' U + armature; `axes`, if any: by columns of S, the only axis of each.

    If so, S is diagonal on these axes, and U there is S^-1 D.
    """

    S: Subspace
    U: SX
    D: LDL
    axes: tuple[int, ...]

    def projected_inertia(self, IA: NodeInertia) -> NodeInertia:
        """IA - U D^-1 U': the inertia that the parent's side of the joint feels."""
        return IA.without(self.U, self.D, self.axes)

    def projected_force(self, F: SX, y: SX, tau: SX | None = None) -> SX:
        """F + U y for y = D^-1 (tau - S' F): forces F on the body (6 k x c), as its parent feels them."""
        felt = F + without_rows(self.U, self.axes) @ y
        if self.axes:
            felt[list(self.axes), :] = zeros(len(self.axes), F.size2()) if tau is None else self._scaled(tau)
        return felt

    def motion(self, a: SX, u: SX) -> tuple[SX, SX]:
        """y = D^-1 (u - U' a) and a + S y: the joint's acceleration and the body's, from the parent's."""
        if not self.axes:
            y = self.D.solve(u - self.U.T @ a)
            return y, a + self.S @ y
        U = without_rows(self.U, self.axes)
        z = self.D.solve(u) - self.D.solve(U.T) @ a if self.D.size == 1 else self.D.solve(u - U.T @ a)
        axes, a = list(self.axes), SX(a)
        y = z - self._scaled(a[axes, :])
        a[axes, :] = self.S.columns[axes, :] @ z
        return y, a

    def _scaled(self, x: SX) -> SX:
        """S^-1 x, S and x along the axes."""
        size = diag(self.S.columns[list(self.axes), :])
        return x / size if x.size2() == 1 else diag(1 / size) @ x


def articulated_joint(IA: NodeInertia, S: Subspace, armature: SX) -> ArticulatedJoint:
    """The joint with subspace S below the inertia IA, free to move."""
    U = IA @ S
    D = ldl(S.T @ U + armature)
    return ArticulatedJoint(S, U, D, own_axes(S.columns) if is_equal(D.A, S.T @ U, 1) else ())


def unit_axes(S: SX) -> bool:
    """Whether columns of S along one axis are along it by one; others are those of rotations."""
    single = (own for own in horzsplit(S) if sum(not x.is_zero() for x in vertsplit(own)) == 1)
    return all(own.is_constant() and abs(float(sum1(own))) == 1.0 for own in single)


def own_axes(S: SX) -> tuple[int, ...]:
    """By columns of S, the only axis of each, if it moves one body along them."""
    if S.size1() != 6:
        return ()
    rows = [[r for r in range(6) if not S[r, column].is_zero()] for column in range(S.size2())]
    single = [own[0] for own in rows if len(own) == 1]
    constants = all(S[r, column].is_constant() for column, own in enumerate(rows) for r in own)
    return tuple(single) if constants and len(set(single)) == len(rows) else ()
