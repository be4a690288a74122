"""Links whose joints contacts lead: at a tip that a contact holds, the joint's acceleration may follow from the rows.

F' a = s are the rows, F the forces of unit multipliers on the link. A fixed orthogonal turn leaves n of them, F1, which
the joint feels, as Y = S' F1, and others, F2, which it does not. Where Y are numbers, the joint follows what carries it
alike at all positions: with B = F1 Y^-1, so that S' B = 1, by y = Y'^-1 s1 - B' X a. The link is then one with its
carrier: an inertia P' I P, P = 1 - S B', the joint's force B tau, and the rows F2. Least squares stay what they were,
as the turn is orthogonal: whatever other joints do, this one can satisfy F1, and F2 do not feel it.

Of a link that is held wholly, the forces along its joint's axes and those that the joint transmits serve as F1 and F2
in place of rows. If it is held exactly, it even moves as it is told: its inertia is of no concern to the carrier, which
is held by what the joint transmits. (Where rows then depend on each other, the multipliers still balance the motion,
but it is not the least squares of the user's rows.) Spatial vectors [angular; linear] in body frames.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from casadi import DM, SX, diag, vertcat

from codegen.levers import REGULAR, long_enough
from codegen.spatial import (
    ArticulatedInertia,
    AxisTurn,
    Reflections,
    Shift,
    Transform,
    constant,
    others,
    own_axes,
    reflections,
    without_rows,
    zeros,
)
from codegen.tree import Held, Part, Tree

ROUNDING = 1e-14  # what a turn of rows leaves of nothing, as part of the largest entry


@dataclass(frozen=True, slots=True)
class Led(ABC):
    """A link, alone at its node, whose joint is led by the one contact that holds it: F1 (6 x n) and F2 (6 x m - n)."""

    held: Held
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
        return A.led(self.part.S, self.B, own_axes(self.part.S))

    def force(self, f: SX) -> SX:
        """P' f, of a force on the link as the carrier feels it."""
        return without_rows(f - self.B @ (self.part.S.T @ f), own_axes(self.part.S))

    def stiffness(self, mu: SX) -> ArticulatedInertia:
        """F2 mu F2', if `stiff` says that it costs less on the link than on the carrier."""
        return ArticulatedInertia.of(mu * (self.F2 @ self.F2.T)) if self.stiff else ArticulatedInertia.none()

    @abstractmethod
    def told(self, s: SX) -> SX:
        """The link's acceleration (6) at which F1' a = s1 while the carrier rests."""

    @abstractmethod
    def left(self, s: SX) -> SX:
        """What F2 lack, when the contact's rows lack s."""

    @abstractmethod
    def kept(self, lam: SX) -> SX:
        """The multipliers of F2, from those of the contact's rows."""

    @abstractmethod
    def multipliers(self, lacking: SX, lam2: SX) -> SX:
        """Those of the contact's rows, from the force that the link lacks and the multipliers of F2."""


@dataclass(frozen=True, slots=True)
class Levered(Led):
    """A link that is held by rows which, each divided by its `size`, Q turns into F1 and F2."""

    Q: Reflections
    size: SX
    stiff: ClassVar[bool] = True

    def told(self, s: SX) -> SX:
        return self.part.S @ (_inverse(self.Y).T @ self.Q.rows(s / self.size)[: self.F1.size2(), :])

    def left(self, s: SX) -> SX:
        return self.Q.rows(s / self.size)[self.F1.size2() :, :]

    def kept(self, lam: SX) -> SX:
        return self.Q.rows(lam * self.size)[self.F1.size2() :, :]

    def multipliers(self, lacking: SX, lam2: SX) -> SX:
        return self.Q.back(vertcat(_inverse(self.Y) @ (self.part.S.T @ lacking), lam2)) / self.size


@dataclass(frozen=True, slots=True)
class Swivel(Led):
    """A link that is held wholly at a point of its hinge, to which `at` leads; F1 and F2 are along its axes there.

    The hinge's turn only mixes the forces F2, so that before it they are numbers, too.
    """

    at: Transform

    @property
    def way(self) -> tuple[Transform, Transform]:
        """The transform from the carrier, in two: up to the turn of a hinge, and this."""
        steps = self.part.X.steps
        turns = bool(steps) and isinstance(steps[-1], AxisTurn) and own_axes(self.part.S) == (steps[-1].k,)
        return Transform(steps[: len(steps) - turns]), Transform(steps[len(steps) - turns :])

    @property
    def rows(self) -> SX:
        return self.way[0].force(self.F2)

    def wanted(self, s: SX) -> SX:
        """The link's acceleration at which no row lacks anything."""
        return self.held.axes.back(_inverse(self.held.K) @ s)

    def told(self, s: SX) -> SX:
        return self.part.S @ (self.B.T @ self.wanted(s))

    def left(self, s: SX) -> SX:
        return self.F2.T @ self.way[1].back(self.wanted(s))

    def kept(self, lam: SX) -> SX:
        across = [r for r in range(6) if r not in own_axes(self.part.S)]
        return self.at.onward(self.way[1].force(self.held.force @ lam))[across, :]

    def multipliers(self, lacking: SX, lam2: SX) -> SX:
        exerted = self.own(lacking) + self.way[1].onward(self.F2 @ lam2)
        return _inverse(self.held.K).T @ self.held.axes.onward(exerted)

    def own(self, lacking: SX) -> SX:
        """The part of the force that the link lacks which F2 do not exert."""
        return self.B @ (self.part.S.T @ lacking)


@dataclass(frozen=True, slots=True)
class Welded(Swivel):
    """A link that is held wholly and exactly, at whatever point: F2 are all that its joint transmits."""

    def told(self, s: SX) -> SX:
        return self.wanted(s)

    def inertia(self, A: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia.none()

    def force(self, f: SX) -> SX:
        return zeros(6)

    def own(self, lacking: SX) -> SX:
        return lacking


def _inverse(A: SX) -> SX:
    return constant(np.linalg.inv(np.array(DM(A))))


def led(tree: Tree) -> dict[int, Led]:
    """By contacts, the links that they lead if they are held exactly, so that rows may be of any length."""
    found: dict[int, Led] = {}
    for e, contact in enumerate(tree.contacts):
        axes = _free_axes(tree, contact)
        if axes and _regular(contact):
            size = _power_of_two(float(np.linalg.norm(np.array(DM(contact.K)))) / math.sqrt(6))
            found[e] = Welded(contact, tree.parts[contact.body], *_along(axes, size), Transform(()))
        elif link := _levered(tree, contact, axes, _sizes):
            found[e] = link
    return found


def settling(tree: Tree) -> dict[int, Led]:
    """By contacts, the links that they lead if they come to be held, in the least squares of their rows, by stiffness.

    A frame must have orthonormal rows, as only orthogonal turns keep least squares, and its origin on the hinge's axis,
    as elsewhere this costs more than it saves. None leads if no row would be left to tell the residual.
    """
    found: dict[int, Led] = {}
    for e, contact in enumerate(tree.contacts):
        axes = _free_axes(tree, contact)
        if axes and _regular(contact):
            hinge = len(axes) == 1 and axes[0] < 3 and not any(contact.origin[r].nnz() for r in others(axes[0]))
            if hinge and np.allclose(np.array(DM(contact.K @ contact.K.T)), np.eye(6), 0.0, 1e-14):
                at = Transform((Shift(contact.origin),) if contact.origin.nnz() else ())
                F1, F2 = _along(axes, 1.0)
                found[e] = Swivel(contact, tree.parts[contact.body], F1, at.force(F2), at)
        elif link := _levered(tree, contact, axes, lambda contact: SX.ones(contact.size)):
            found[e] = link
    return found if sum(link.F1.size2() for link in found.values()) < tree.m else {}


def _levered(tree: Tree, contact: Held, axes: tuple[int, ...], sizes: Callable[[Held], SX]) -> Levered | None:
    """The link, if a contact leads it by its rows, turned when divided by their sizes."""
    if not axes or not contact.force.is_constant() or contact.size < len(axes):
        return None
    part, size = tree.parts[contact.body], sizes(contact)
    force = contact.force @ diag(1 / size)
    Q, _ = reflections(force.T @ part.S)
    F = _without_rounding(Q.columns(force))
    F1, F2 = F[:, : len(axes)], without_rows(F[:, len(axes) :], axes)
    levers = long_enough(tree.model, contact.body, np.array(DM(part.S)), np.array(DM(F1)))
    return Levered(contact, part, F1, F2, Q, size) if levers else None


def _sizes(contact: Held) -> SX:
    """Of rows the lengths, in powers of two of what they are at the mean."""
    lengths = np.linalg.norm(np.array(DM(contact.force)), axis=0)
    mean = float(np.linalg.norm(lengths)) / math.sqrt(contact.size)
    return SX([_power_of_two(float(length) / mean) if mean else 1.0 for length in lengths])


def _power_of_two(size: float) -> float:
    """The power of two next to a size, which costs no digits; one for nothing."""
    return 2.0 ** round(math.log2(size)) if size > 0.0 else 1.0


def _free_axes(tree: Tree, contact: Held) -> tuple[int, ...]:
    """The axes along which its joint moves a contact's body, if this is alone at its node, and held by nothing else.

    Nor by stiffness that is in its inertia already, which would be taken for the body's own.
    """
    part, node = tree.parts[contact.body], tree.model.nodes[contact.node]
    axes = own_axes(part.S) if part.parent >= 0 and len(node.bodies) == 1 and not node.loops else ()
    alone = sum(contact.node in tree.path(other.node) for other in tree.contacts) == 1
    return axes if len(axes) < 6 and alone and not contact.stiff else ()


def _regular(contact: Held) -> bool:
    """Whether a contact's rows are numbers, and hold its frame wholly."""
    whole = contact.size == 6 and contact.K.is_constant()
    return whole and bool(np.linalg.cond(np.array(DM(contact.K))) < REGULAR)


def _along(axes: Sequence[int], size: float) -> tuple[SX, SX]:
    """Forces of one size along axes (6 x n), and those along the others."""
    E = size * SX.eye(6)
    return E[:, list(axes)], E[:, [r for r in range(6) if r not in axes]]


def _without_rounding(F: SX) -> SX:
    numbers = np.array(DM(F))
    numbers[np.abs(numbers) < ROUNDING * np.abs(numbers).max(initial=0.0)] = 0.0
    return constant(numbers)
