"""Links whose joint motion a contact determines, eliminated together with as many rows.

Consider a link at a tip that a contact holds. Let F' a = s be the contact's rows, F the forces of unit multipliers on
the link. An orthogonal matrix splits F into n columns F1 that the joint feels, as Y = S' F1, and columns F2 that it
does not feel. If Y is regular at all positions, the rows of F1 determine the joint's acceleration from that of the
carrier: with B = F1 Y^-1, so that S' B = 1, it is y = Y'^-1 s1 - B' X a. The link then is a part of its carrier, with
inertia P' I P, P = 1 - S B', the joint force B tau, and the rows F2. Least squares stay what they were, as the matrix
is orthogonal: whatever other joints do, this one can satisfy F1, and F2 do not feel it.

Where a frame is held wholly, the forces along the joint's axes and those that the joint transmits serve as F1 and F2
in place of rows. If it is held exactly, its acceleration is prescribed, and its inertia is of no concern to the
carrier, which is held by what the joint transmits. (Where rows depend on each other, the multipliers still balance the
motion, but it is not the least squares of the user's rows.) `codegen.elimination.detect` finds such links. Spatial
vectors [angular; linear] in body frames.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from casadi import DM, SX, is_equal, vertcat

from codegen.recursions.tree import LoweredContact, Part
from codegen.spatial import (
    ArticulatedInertia,
    AxisRotation,
    Reflections,
    Transform,
    constant,
    others,
    own_axes,
    without_rows,
)


@dataclass(frozen=True, slots=True)
class EliminatedLink(ABC):
    """A link, alone at its node, whose joint motion its one contact determines: F1 (6 x n) and F2 (6 x m - n)."""

    held: LoweredContact
    part: Part
    F1: SX
    F2: SX
    stiff: ClassVar[bool] = False

    @property
    def Y(self) -> SX:
        """F1 as joint forces (n x n)."""
        return self.part.S.T @ self.F1

    @property
    def B(self) -> SX:
        """Forces on the link (6 x n) that are unit joint forces."""
        return self.F1 @ _inverse(self.Y)

    @property
    def rows(self) -> SX:
        """F2 on the body that carries the link."""
        return self.part.X.force(self.F2)

    def inertia(self, A: ArticulatedInertia) -> ArticulatedInertia:
        """P' A P, of the link as the carrier feels it."""
        return A.eliminated(self.part.S, self.B, own_axes(self.part.S))

    def force(self, f: SX, tau: SX) -> SX:
        """P' f + B tau, of a force on the link and one at its joint, as the carrier feels them."""
        S = self.part.S
        return without_rows(f + self.B @ (tau - S.T @ f), own_axes(S)) + S @ tau

    def stiffness(self, mu: SX) -> ArticulatedInertia:
        """F2 mu F2', if `stiff` says that it costs less on the link than on the carrier."""
        return ArticulatedInertia.of(mu * (self.F2 @ self.F2.T)) if self.stiff else ArticulatedInertia.none()

    @property
    def way(self) -> tuple[Transform, Transform]:
        """The transform from the carrier, in two: up to the turn of a hinge, and this."""
        steps = self.part.X.steps
        turns = bool(steps) and isinstance(steps[-1], AxisRotation) and own_axes(self.part.S) == (steps[-1].k,)
        return Transform(steps[: len(steps) - turns]), Transform(steps[len(steps) - turns :])

    @abstractmethod
    def prescribed_acceleration(self, s: SX) -> SX:
        """The link's acceleration (6) at which F1' a = s1 while the carrier rests."""

    @abstractmethod
    def reduced_rhs(self, s: SX) -> SX:
        """What F2 lack, when the contact's rows lack s."""

    @abstractmethod
    def reduced_multipliers(self, lam: SX) -> SX:
        """The multipliers of F2, from those of the contact's rows."""

    @abstractmethod
    def multipliers(self, lacking: SX, lam2: SX) -> SX:
        """Those of the contact's rows, from the force that the link lacks and the multipliers of F2."""


@dataclass(frozen=True, slots=True)
class LeveredLink(EliminatedLink):
    """A link that is held by rows which, each divided by its `size`, all turned by `own`, Q turns into F1 and F2."""

    Q: Reflections
    size: SX
    own: SX
    stiff: ClassVar[bool] = True

    @property
    def unit_multipliers(self) -> SX:
        """Multipliers (m x n) of rows that `own` turned, of which only F1 push, for unit joint forces."""
        return self.Q.back(SX.eye(self.own.size1()))[:, : self.F1.size2()] @ _inverse(self.Y)

    @property
    def across(self) -> list[int]:
        """Places among F2 of unit moments about the two axes across a hinge, if both are there.

        The hinge's turn only mixes these, so that before it they are numbers, too.
        """
        if not self.way[1].steps or not self.F2.is_constant():
            return []
        columns, units = range(self.F2.size2()), [SX.eye(6)[:, axis] for axis in others(*own_axes(self.part.S))]
        found = [[n for n in columns if is_equal(self.F2[:, n], unit, 1)] for unit in units]
        return [places[0] for places in found] if all(found) else []

    @property
    def rows(self) -> SX:
        F, across = self.part.X.force(self.F2), self.across
        F[:, across] = self.way[0].force(self.F2[:, across])
        return F

    def prescribed_acceleration(self, s: SX) -> SX:
        return self.part.S @ (self.unit_multipliers.T @ (self.own @ (s / self.size)))

    def reduced_rhs(self, s: SX) -> SX:
        return self._before(self.Q.rows(self.own @ (s / self.size))[self.F1.size2() :, :])

    def reduced_multipliers(self, lam: SX) -> SX:
        return self._before(self.Q.rows(self.own @ (lam * self.size))[self.F1.size2() :, :])

    def multipliers(self, lacking: SX, lam2: SX) -> SX:
        held = self.Q.back(vertcat(SX(self.F1.size2(), 1), self._mixed(lam2, self.way[1].vector)))
        return self.own.T @ (held + self.unit_multipliers @ (self.part.S.T @ lacking)) / self.size

    def _before(self, x: SX) -> SX:
        """Values of F2, as they are before the hinge's turn."""
        return self._mixed(x, self.way[1].outward)

    def _mixed(self, x: SX, turn: Callable[[SX], SX]) -> SX:
        if self.across:
            axes, vector, x = list(others(*own_axes(self.part.S))), SX(3, 1), SX(x)
            vector[axes] = x[self.across]
            x[self.across] = turn(vector)[axes]
        return x


@dataclass(frozen=True, slots=True)
class SwivelLink(EliminatedLink):
    """A link that is held wholly at a point of its hinge, to which `at` leads; F1 and F2 are along its axes there.

    The hinge's turn only mixes the forces F2, so that before it they are numbers, too.
    """

    at: Transform

    @property
    def rows(self) -> SX:
        return self.way[0].force(self.F2)

    def frame_acceleration(self, s: SX) -> SX:
        """The link's acceleration at which no row lacks anything."""
        return self.held.on_body.axes.back(_inverse(self.held.on_body.K) @ s)

    def prescribed_acceleration(self, s: SX) -> SX:
        return self.part.S @ (self.B.T @ self.frame_acceleration(s))

    def reduced_rhs(self, s: SX) -> SX:
        return self.F2.T @ self.way[1].back(self.frame_acceleration(s))

    def reduced_multipliers(self, lam: SX) -> SX:
        across = [r for r in range(6) if r not in own_axes(self.part.S)]
        return self.at.onward(self.way[1].force(self.held.force @ lam))[across, :]

    def multipliers(self, lacking: SX, lam2: SX) -> SX:
        exerted = self.own(lacking) + self.way[1].onward(self.F2 @ lam2)
        return _inverse(self.held.on_body.K).T @ self.held.on_body.axes.onward(exerted)

    def own(self, lacking: SX) -> SX:
        """The part of the force that the link lacks which F2 do not exert."""
        return self.B @ (self.part.S.T @ lacking)


@dataclass(frozen=True, slots=True)
class WeldedLink(SwivelLink):
    """A link that is held wholly and exactly, at whatever point: F2 are all that its joint transmits."""

    def prescribed_acceleration(self, s: SX) -> SX:
        return self.frame_acceleration(s)

    def inertia(self, A: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia.none()

    def force(self, f: SX, tau: SX) -> SX:
        return self.B @ tau

    def own(self, lacking: SX) -> SX:
        return lacking


def _inverse(A: SX) -> SX:
    """A^-1, of numbers or of a single symbol."""
    return constant(np.linalg.inv(np.array(DM(A)))) if A.is_constant() else 1 / A
