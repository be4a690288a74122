"""Equations of one unknown, as loops give them, and their solutions: moves from a guess to where a loop closes.

An unknown is a direction in the position coordinates x: a joint, and joints that follow it by constant ratios. Where an
equation f = 0 is a sinusoid of the unknown, f = A sin(k d) + B cos(k d) - C after a move by d from the guess, with
A = f' / k, B = -f'' / k^2 and C = B - f. The two solutions lie on the two sides of a singular position, where
A^2 + B^2 = C^2; the one is taken on whose side the guess lies. At f = 0 the move is zero, and near it Newton's step.

Two equations or more hold several unknowns. An unknown that moves phi along a line or about an axis drops out of
  phi x phi_w              (a line: two rows, linear in w),
  |rod|^2 - |phi - rod|^2  (a rod that turns by w, alone or by two joints in a row: its length), and
  axis . phi               (components along the axis of w).
These are the eliminations of the dyads of planar linkages (RRR, RRP, RPR) and of rods between two ball joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from casadi import SX, Function, atan2, copysign, dot, fmax, fmin, jtimes, sqrt, substitute, sumsqr

from codegen.spatial import cross3, divisor, zeros

if TYPE_CHECKING:
    from collections.abc import Sequence

Direction = tuple[tuple[int, float], ...]
"""Places in x and how far they move with the unknown; the unknown's own, by one, comes first."""

How = Literal["row", "off line", "off rod", "off axis", "on line", "on rod"]
"""Where an equation comes from: a row of phi as it stands; what is left without other unknowns; or all rows, which then
place the last unknown on its line or circle."""

VANISHING = 1e-12  # of squared amplitudes: nearer to a singular position, sides cannot be told apart


class Equation(NamedTuple):
    """f = 0 in one unknown: f, f' and f'' at the guess, and what f' is up to factors above zero if loops are closed.

    `slope` tells the side on which the guess lies. It is better known than f' where the loop is open.
    """

    f: SX
    first: SX
    second: SX
    slope: SX


@dataclass(frozen=True, slots=True)
class Move:
    """How one unknown moves: from which rows of phi, how, and without which other unknowns.

    `rate` is k of the equation, 0 where it is linear; `rates` are those of the other unknowns. `size` is the squared
    amplitude of f (of a linear equation f' squared) at generic closed configurations. An axis is found `at` a value of
    the unknown.
    """

    unknown: Direction
    how: How
    rows: tuple[int, ...]
    others: tuple[Direction, ...] = ()
    rate: float = 0.0
    rates: tuple[float, ...] = ()
    size: float = 1.0
    at: float = 0.0

    def equation(self, x: SX, phi: SX, zero: Sequence[Direction]) -> Equation:
        """The equation at x (symbols), stated at zero of these unknowns, which change nothing."""
        phi = phi[list(self.rows)]
        if self.how == "row":
            return _plain(x, phi, self.unknown)
        if self.how == "off line":
            return off_line(x, phi, self.unknown, self.others[0])
        if self.how == "off rod":
            return off_rod(x, phi, self.unknown, self.others, self.rates, zero)
        return off_axis(x, phi, self.unknown, self.others[0], self.at, zero)

    def motion(self, x: SX, phi: SX) -> tuple[SX, SX]:
        """How far the unknown moves from x (symbols), and the room to a singular position (its square, as a part)."""
        if self.how.startswith("on "):
            return self._last(x, phi[list(self.rows)]), SX(1)
        f, first, second, slope = self.equation(x, phi, self.others)
        if not self.rate:
            return -f / divisor(first, first * first, VANISHING * self.size), SX(1)
        A, B = first / self.rate, -second / self.rate**2
        squared = A * A + f * (2 * B - f)
        root = copysign(sqrt(fmax(squared, 0)), slope)
        return atan2(A * (B - f) - B * root, B * (B - f) + A * root) / self.rate, squared / self.size - VANISHING

    def _last(self, x: SX, phi: SX) -> SX:
        """The move of the last unknown of a group: to the point of its line or circle that lies nearest."""
        first = along(phi, x, self.unknown)
        if not self.rate:
            return -dot(phi, first) / dot(first, first)
        second = along(first, x, self.unknown) / self.rate
        return atan2(-dot(phi, first), dot(phi, second) / self.rate + dot(second, second)) / self.rate


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """The moves, in order, that close the loops of a node."""

    moves: tuple[Move, ...]

    def motion(self, x: SX, phi: SX, guess: SX) -> tuple[SX, SX]:
        """How far all coordinates move from the guess, and the room to a singular position: at most zero there.

        phi holds all constraints of the node at x (symbols).
        """
        motion, room = SX.zeros(x.size1()), SX(1)
        for move in self.moves:
            by, left = Function("move", [x], [*move.motion(x, phi)])(guess + motion)
            room = left if room.is_one() else fmin(room, left)
            for place, factor in move.unknown:
                motion[place] += factor * by
        return motion, room


def _plain(x: SX, f: SX, u: Direction) -> Equation:
    first = along(f, x, u)
    return Equation(f, first, along(first, x, u), first)


def off_line(x: SX, phi: SX, u: Direction, w: Direction) -> Equation:
    """Two rows without an unknown w in which they are linear."""
    line = along(phi, x, w)
    f = _plain(x, _cross(phi, line), u)
    return f._replace(slope=_cross(along(phi, x, u), line))


def _cross(a: SX, b: SX) -> SX:
    return a[0] * b[1] - a[1] * b[0]


def off_rod(
    x: SX, phi: SX, u: Direction, turns: Sequence[Direction], rates: Sequence[float], zero: Sequence[Direction]
) -> Equation:
    """The squared length of a rod that these unknowns turn, less that of what it has to reach."""
    rest = phi
    for w, k in zip(turns, rates, strict=True):
        rest += along(along(rest, x, w), x, w) / k**2
    rod = phi - rest
    f = sumsqr(_set(rod, x, zero)) - sumsqr(_set(rest, x, zero))
    return _plain(x, f, u)._replace(slope=dot(rod, along(phi, x, u)))


def off_axis(x: SX, phi: SX, u: Direction, w: Direction, at: float, zero: Sequence[Direction]) -> Equation:
    """The component of three rows along the axis of an unknown w, which its arm spans where u has the value `at`."""
    arm = along(phi, x, w)
    axis = _set(_set(cross3(arm, along(arm, x, w)), x, [w]), x, [u], at)
    return _plain(x, _set(dot(axis, phi), x, zero), u)


def _set(value: SX, x: SX, unknowns: Sequence[Direction], at: float = 0.0) -> SX:
    """A value with a number in the place of unknowns that nothing follows: shorter, where they change nothing."""
    for own in unknowns:
        if len(own) == 1:
            value = substitute(value, x[own[0][0]], at)
    return value


def along(value: SX, x: SX, unknown: Direction) -> SX:
    """The derivative by an unknown."""
    step = zeros(x.size1())
    for place, factor in unknown:
        step[place] = factor
    return jtimes(value, x, step)
