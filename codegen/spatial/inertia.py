"""Inertias over SX: a rigid body's ten numbers, and the twenty-one of an articulated body.

An articulated inertia acts on motions as [n; f] = [I H; H' M] [wdot; a], with I and M symmetric; a rigid
body has H = [h]x and M = m 1. Formulas of the turns and shifts: the entries are those of R A R' and of the
parallel-axis theorem, written for one axis k with i, j the next two (c, s cosine and sine).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import overload

from casadi import SX, horzcat, is_equal, trace, vertcat, vertsplit

from codegen.spatial.axes import cross3, others, skew3
from codegen.spatial.solve import LDL, mirrored
from codegen.spatial.steps import congruence, rotate_rows

ROUNDING = 1e-15  # what sums of inertias leave where nothing belongs, as part of them


def _turn_symmetric(A: SX, k: int, c: SX, s: SX) -> SX:
    """Rot_k A Rot_k' for symmetric A: four multiplications in the plane of the turn, four across it."""
    i, j = others(k)
    a, b, d = A[i, i], A[i, j], A[j, j]
    t = s * (a - d) + (2 * c) * b
    st = s * t
    B = SX(A)
    B[i, i], B[j, j] = a - st, d + st
    B[i, j] = B[j, i] = c * t - b
    B[i, k] = B[k, i] = c * A[i, k] - s * A[j, k]
    B[j, k] = B[k, j] = s * A[i, k] + c * A[j, k]
    return B


def turned_general(A: SX, k: int, c: SX, s: SX) -> SX:
    """Rot_k A Rot_k' for any A."""
    i, j = others(k)
    a, b, d, e = A[i, i], A[i, j], A[j, j], A[j, i]
    t = s * (a - d) + c * (b + e)
    st, ct = s * t, c * t
    B = SX(A)
    B[i, i], B[j, j] = a - st, d + st
    B[i, j], B[j, i] = ct - e, ct - b
    B[i, k], B[j, k] = c * A[i, k] - s * A[j, k], s * A[i, k] + c * A[j, k]
    B[k, i], B[k, j] = c * A[k, i] - s * A[k, j], s * A[k, i] + c * A[k, j]
    return B


@dataclass(frozen=True, slots=True)
class RigidInertia:
    """Mass m, first moment h, rotational inertia I about the frame's origin; and half its trace, which turns keep."""

    m: SX
    h: SX
    I: SX
    half: SX

    @classmethod
    def none(cls) -> RigidInertia:
        """No inertia at all: where sums over children begin."""
        return cls(SX(1, 1), SX(3, 1), SX(3, 3), SX(1, 1))

    @classmethod
    def about_origin(cls, m: SX, h: SX, I: SX) -> RigidInertia:
        """The inertia with this rotational part. A second moment that vanishes but for rounding is nothing."""
        half, diagonal = trace(I) / 2, [I[k, k] for k in range(3)]
        flat = [d for d in diagonal if I.is_constant() and abs(float(half - d)) <= ROUNDING * abs(float(half))]
        return cls(m, h, I, flat[0] if flat else half)

    @classmethod
    def unstacked(cls, numbers: SX) -> RigidInertia:
        """The inertia of these eleven numbers (`stacked`)."""
        m, h, half, xx, xy, xz, yy, yz, zz = vertsplit(numbers, [0, 1, *range(4, 12)])
        return cls(m, h, vertcat(horzcat(xx, xy, xz), horzcat(xy, yy, yz), horzcat(xz, yz, zz)), half)

    @property
    def stacked(self) -> SX:
        """Its eleven numbers in a column: m, h, half the trace of I, and the upper triangle of I row by row."""
        return vertcat(self.m, self.h, self.half, *[self.I[r, c] for r in range(3) for c in range(r, 3)])

    @property
    def moments(self) -> SX:
        """The nine numbers that places of masses make: h, and the upper triangle of I row by row."""
        return vertcat(self.h, *[self.I[r, c] for r in range(3) for c in range(r, 3)])

    @classmethod
    def of_moments(cls, m: SX, numbers: SX) -> RigidInertia:
        """The inertia of a mass and its moments."""
        x, y, z, xx, xy, xz, yy, yz, zz = vertsplit(numbers)
        I = vertcat(horzcat(xx, xy, xz), horzcat(xy, yy, yz), horzcat(xz, yz, zz))
        return cls(m, vertcat(x, y, z), I, trace(I) / 2)

    @classmethod
    def of(cls, A: SX) -> RigidInertia | None:
        """The body whose inertia A (6 x 6, numbers) is; None if it is none of a rigid body."""
        m, H = A[3, 3], A[:3, 3:]
        if not (A.is_constant() and is_equal(A[3:, 3:], m * SX.eye(3)) and is_equal(H, -H.T)):
            return None
        return cls.about_origin(m, vertcat(H[2, 1], H[0, 2], H[1, 0]), A[:3, :3])

    def times(self, x: SX) -> RigidInertia:
        """This inertia times a number."""
        return RigidInertia(x * self.m, x * self.h, x * self.I, x * self.half)

    @overload
    def __add__(self, other: RigidInertia) -> RigidInertia: ...
    @overload
    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia: ...
    def __add__(self, other: RigidInertia | ArticulatedInertia) -> RigidInertia | ArticulatedInertia:
        if isinstance(other, ArticulatedInertia):
            return self.articulated() + other
        return RigidInertia(self.m + other.m, self.h + other.h, self.I + other.I, self.half + other.half)

    def __matmul__(self, S: SX) -> SX:
        """The spatial momenta or forces (6 x c) that go with the motions S."""
        w, v = S[:3, :], S[3:, :]
        return vertcat(self.I @ w + skew3(self.h) @ v, self.m * v - skew3(self.h) @ w)

    @property
    def only_spins(self) -> int | None:
        """The axis about which the body has rotational inertia, if it has nothing else."""
        entries = [(r, c) for r in range(3) for c in range(3) if not self.I[r, c].is_zero()]
        alone = len(entries) == 1 and self.m.is_zero() and self.h.is_zero()
        return entries[0][0] if alone and entries[0][0] == entries[0][1] else None

    @property
    def second_moment(self) -> SX:
        """J = tr(I)/2 1 - I (3 x 3), the sum of m r r'; of a flat body, along one axis it is I about the other."""
        J = self.half * SX.eye(3) - self.I
        for k in range(3):
            i, j = others(k)
            if J[k, k].is_zero():
                J[i, i], J[j, j] = self.I[j, j], self.I[i, i]
        return J

    def force(self, w: SX, wdot: SX, Omega: SX, ac: SX) -> SX:
        """The spatial force on a body that turns with w and wdot, and whose points r accelerate as ac + Omega r.

        With J the body's second moment, the moment about the origin is the axial vector of
        Omega J - (Omega J)', and that of the origin's acceleration. For a body that only spins, Euler's equation.
        """
        if self.only_spins is not None:
            return vertcat(self.I @ wdot + cross3(w, self.I @ w), SX(3, 1))
        J, n = self.second_moment, SX(3, 1)
        for k in range(3):
            i, j = others(k)
            if is_equal(Omega[i, j], Omega[j, i], 1):
                n[k] = Omega[i, j] * (J[i, i] - J[j, j])
            else:
                n[k] = Omega[j, i] * J[i, i] - Omega[i, j] * J[j, j]
            n[k] += (w[j] * w[j] - w[i] * w[i]) * J[i, j]
            n[k] += Omega[j, k] * J[i, k] - Omega[i, k] * J[j, k]
        return vertcat(n + cross3(self.h, ac), self.m * ac + Omega @ self.h)

    def articulated(self) -> ArticulatedInertia:
        """The same body as an articulated inertia."""
        return ArticulatedInertia(self.I, skew3(self.h), self.m * SX.eye(3))

    def turned(self, k: int, c: SX, s: SX) -> RigidInertia:
        return RigidInertia(self.m, rotate_rows(self.h, k, c, s), _turn_symmetric(self.I, k, c, s), self.half)

    def measured(self, ratio: float) -> RigidInertia:
        """The same where lengths are in a unit that is shorter by `ratio`."""
        return RigidInertia(self.m, ratio * self.h, ratio**2 * self.I, ratio**2 * self.half)

    def rotated(self, R: SX) -> RigidInertia:
        return RigidInertia(self.m, R @ self.h, congruence(R, self.I), self.half)

    def shifted(self, k: int, p: SX) -> RigidInertia:
        i, j = others(k)
        h, B = SX(self.h), SX(self.I)
        h[k] = self.h[k] + self.m * p
        both = p * (self.h[k] + h[k])
        B[i, i], B[j, j] = self.I[i, i] + both, self.I[j, j] + both
        B[i, k] = B[k, i] = self.I[i, k] - p * self.h[i]
        B[j, k] = B[k, j] = self.I[j, k] - p * self.h[j]
        return RigidInertia(self.m, h, B, self.half + both)


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """The blocks I, H, M of a symmetric 6 x 6 inertia [I H; H' M]."""

    I: SX
    H: SX
    M: SX

    @classmethod
    def none(cls) -> ArticulatedInertia:
        """No inertia at all: where sums over children begin."""
        return cls(SX(3, 3), SX(3, 3), SX(3, 3))

    @classmethod
    def of(cls, A: SX) -> ArticulatedInertia:
        """The inertia of a symmetric 6 x 6 matrix."""
        return cls(A[:3, :3], A[:3, 3:], A[3:, 3:])

    def articulated(self) -> ArticulatedInertia:
        """Itself."""
        return self

    def __add__(self, added: RigidInertia | ArticulatedInertia) -> ArticulatedInertia:
        other = added.articulated()
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    def __matmul__(self, S: SX) -> SX:
        """The spatial forces (6 x c) that go with the accelerations S."""
        w, a = S[:3, :], S[3:, :]
        return vertcat(self.I @ w + self.H @ a, self.H.T @ w + self.M @ a)

    def without(self, U: SX, D: LDL, free: Iterable[int] = ()) -> ArticulatedInertia:
        """This inertia less U D^-1 U'; the difference is known to vanish in the rows and columns `free`."""
        W = D.forward(U.T)
        left = vertcat(horzcat(self.I, self.H), horzcat(self.H.T, self.M)) - mirrored(W.T @ D.scale(W))
        for r in free:
            left[r, :] = SX(1, 6)
            left[:, r] = SX(6, 1)
        return ArticulatedInertia.of(left)

    def eliminated(self, S: SX, B: SX, free: Iterable[int] = ()) -> ArticulatedInertia:
        """P' A P with P = 1 - S B', where S' B = 1; known to vanish in the rows and columns `free`."""
        U = self @ S
        half = B @ U.T - B @ mirrored(S.T @ U) @ B.T / 2
        left = mirrored(vertcat(horzcat(self.I, self.H), horzcat(self.H.T, self.M)) - half - half.T)
        for r in free:
            left[r, :] = SX(1, 6)
            left[:, r] = SX(6, 1)
        return ArticulatedInertia.of(left)

    def turned(self, k: int, c: SX, s: SX) -> ArticulatedInertia:
        return ArticulatedInertia(
            _turn_symmetric(self.I, k, c, s), turned_general(self.H, k, c, s), _turn_symmetric(self.M, k, c, s)
        )

    def measured(self, ratio: float) -> ArticulatedInertia:
        """The same where lengths are in a unit that is shorter by `ratio`."""
        return ArticulatedInertia(ratio**2 * self.I, ratio * self.H, self.M)

    def rotated(self, R: SX) -> ArticulatedInertia:
        return ArticulatedInertia(congruence(R, self.I), R @ self.H @ R.T, congruence(R, self.M))

    def shifted(self, k: int, p: SX) -> ArticulatedInertia:
        i, j = others(k)
        A, H, M = self.I, SX(self.H), self.M
        H[i, :] = self.H[i, :] - p * M[j, :]
        H[j, :] = self.H[j, :] + p * M[i, :]
        B = SX(A)
        B[i, i] = A[i, i] - p * (self.H[i, j] + H[i, j])
        B[j, j] = A[j, j] + p * (self.H[j, i] + H[j, i])
        B[i, j] = B[j, i] = A[i, j] + p * (self.H[i, i] - H[j, j])
        B[i, k] = B[k, i] = A[i, k] - p * H[k, j]
        B[j, k] = B[k, j] = A[j, k] + p * H[k, i]
        return ArticulatedInertia(B, H, M)


def yielding(Omega: SX, S: SX, U: SX, D: LDL) -> SX:
    """The compliance P' Omega P + S D^-1 S' of a node whose joint is free, P = 1 - U D^-1 S', from that at rest."""
    Y = D.solve(U.T @ Omega)
    own = D.inverse() + D.solve((Y @ U).T)
    return Omega - S @ Y - (S @ Y).T + S @ mirrored(own) @ S.T
