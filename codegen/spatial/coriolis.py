"""Velocity products of rigid bodies, linear in a motion that is laid over their own.

Points r that move at rdot accelerate by 2 w x rdot more if all are turned with w, too. The force on them, C [w; l], is
that of twelve numbers, P = sum m rdot r' and p = sum m rdot: C has angular columns only,
C [w; l] = [2 (tr P 1 - P) w; 2 w x p]. With Featherstone's I, C = v x* I - I v x + (I v) x-bar (Echeandia and Wensing,
Numerical methods to compute the Coriolis matrix, 2021; Singh, Russell, Wensing, arXiv 2105.05102, where it is 2 B).
"""

from __future__ import annotations

from dataclasses import dataclass

from casadi import SX, reshape, trace, vec, vertcat

from codegen.spatial.axes import cross3, skew3
from codegen.spatial.inertia import RigidInertia, turned_general
from codegen.spatial.steps import rotate_rows


@dataclass(frozen=True, slots=True)
class Coriolis:
    """P (3 x 3) and p (3) of the bodies, about the origin of a frame and along its axes."""

    P: SX
    p: SX

    @classmethod
    def none(cls) -> Coriolis:
        """Of no body: where sums over children begin."""
        return cls(SX(3, 3), SX(3, 1))

    @classmethod
    def unstacked(cls, numbers: SX) -> Coriolis:
        """Of these twelve numbers (`stacked`)."""
        return cls(reshape(numbers[:9], 3, 3), numbers[9:])

    @property
    def stacked(self) -> SX:
        """Its twelve numbers in a column: P column by column, and p."""
        return vertcat(vec(self.P), self.p)

    @classmethod
    def of(cls, inertia: RigidInertia, v: SX) -> Coriolis:
        """Of a body with spatial velocity v."""
        w, linear = v[:3], v[3:]
        p = inertia.m * linear + cross3(w, inertia.h)
        return cls(linear @ inertia.h.T + skew3(w) @ inertia.second_moment, p)

    @classmethod
    def of_momentum(cls, F: SX, r: SX) -> Coriolis:
        """Of what sees F' of a body's motions (6), and of its acceleration that of the point r, the classical one."""
        p = F[3:]
        return cls((p @ r.T + r @ p.T + skew3(F[:3])) / 2, p)

    def __add__(self, other: Coriolis) -> Coriolis:
        return Coriolis(self.P + other.P, self.p + other.p)

    def __matmul__(self, S: SX) -> SX:
        """C S: forces (6 x c) of motions S."""
        w = S[:3, :]
        return vertcat(2 * (trace(self.P) * w - self.P @ w), -2 * skew3(self.p) @ w)

    def moments(self, S: SX) -> SX:
        """The angular rows of C' S (3 x c); its linear ones vanish."""
        w, linear = S[:3, :], S[3:, :]
        return 2 * (trace(self.P) * w - self.P.T @ w + skew3(self.p) @ linear)

    def turned(self, k: int, c: SX, s: SX) -> Coriolis:
        return Coriolis(turned_general(self.P, k, c, s), rotate_rows(self.p, k, c, s))

    def rotated(self, R: SX) -> Coriolis:
        return Coriolis(R @ self.P @ R.T, R @ self.p)

    def shifted(self, k: int, d: SX) -> Coriolis:
        P = SX(self.P)
        P[:, k] += d * self.p
        return Coriolis(P, self.p)

    def measured(self, ratio: float) -> Coriolis:
        """The same where lengths are in a unit that is shorter by `ratio`."""
        return Coriolis(ratio**2 * self.P, ratio * self.p)
