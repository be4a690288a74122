"""Closed forms of implicit loops: dependent joints by formulas, in the place of Newton's method.

The search takes unknowns off the constraints of a node one by one, two by two (the dyads of planar linkages), or three
by three (a rod between two ball joints), by the equations of `angle_equations`. What it assumes of them, it reads off
their derivatives at random positions. A form is taken only if it closes the loops at random states as Newton's method
does. Where there is none, as for differentials from the side of their rotors, Newton's method stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
from casadi import SX, Function, densify, horzcat, vertcat

from codegen.kinematic_loops.angle_equations import ClosedForm, Move, along
from codegen.kinematic_loops.closure import closings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from codegen.kinematic_loops.angle_equations import Direction
    from codegen.kinematic_loops.closure import Closing
    from codegen.model import Model

    Array = NDArray[np.float64]

FORM, NEWTON = "closed form", "Newton's method"
EXACT = 1e-9  # part of their size by which derivatives may miss what is assumed of them
POINTS = 12  # random positions at which they are looked at
STATES = 8  # closed states that a form has to reach
NEAR = 0.02  # from so far away (rad, m)
ROOM = 0.05  # if there is so much room to singular positions
ARMS = (0.0, 1.5)  # where a joint may have to be for the arm of another one not to vanish
REACHED = 1e-9  # what is left then, singular positions being near enough to magnify rounding


@lru_cache(maxsize=64)
def node_forms(model: Model) -> tuple[ClosedForm | None, ...]:
    """By nodes: the closed form of its implicit loops; None where none was found, or nothing has to be closed."""
    return tuple(
        None if closing is None else closed_form(closing, _unknowns(model, i, closing))
        for i, closing in enumerate(closings(model))
    )


def solutions(model: Model) -> dict[int, str]:
    """By numbers of implicit loops, how they are solved for their dependent joints."""
    return {
        n: FORM if form else NEWTON
        for node, form in zip(model.nodes, node_forms(model), strict=True)
        for n in node.loops
        if not model.loops[n].explicit
    }


def _unknowns(model: Model, i: int, closing: Closing) -> tuple[int, ...]:
    """The places of the dependent joints among the position coordinates; none if one has several coordinates."""
    found, q, r = [], 0, 0
    for b in model.position_bodies[i]:
        joint = model.joints[b]
        if r not in closing.own:
            found.append(q if joint.nq == 1 else -1)
        q, r = q + joint.nq, r + joint.nv
    return () if -1 in found else tuple(found)


def closed_form(closing: Closing, unknowns: Sequence[int]) -> ClosedForm | None:
    """The closed form of a node's constraints, if one is found and reaches closed states."""
    rng = np.random.default_rng(4)
    closed = (closing.close(closing.start(rng)) for _ in range(4 * STATES))
    states = np.array([x for x in closed if x is not None])
    if not unknowns or len(states) < STATES:
        return None
    moves: tuple[Move, ...] = ()
    search = Search(closing, states, tuple(((place, 1.0),) for place in unknowns), rng)
    while search.unknowns:
        found = search.step()
        if found is None:
            return None
        search, more = found
        moves += more
    form = ClosedForm(moves)
    return form if _reaches(closing, form, states, unknowns, rng) else None


def _reaches(
    closing: Closing, form: ClosedForm, states: Array, unknowns: Sequence[int], rng: np.random.Generator
) -> bool:
    """Whether a form leads back to closed states from near by, where these are not near singular ones."""
    x = SX.sym("x", closing.size)
    motion, room = form.motion(x, closing.evaluate(x)[0], x)
    close, room_at = Function("close", [x], [x + motion]), Function("room", [x], [room])
    regular = [state for state in states if float(room_at(state)) > ROOM]
    for state in regular:
        guess = state.copy()
        guess[list(unknowns)] += rng.uniform(-NEAR, NEAR, len(unknowns))
        if not np.abs(np.array(close(guess)).ravel() - state).max() < REACHED:
            return False
    return bool(regular)


@dataclass(frozen=True)
class Search:
    """Unknowns that are left, and the constraints as functions of all coordinates."""

    closing: Closing
    states: Array
    unknowns: tuple[Direction, ...]
    rng: np.random.Generator

    @cached_property
    def x(self) -> SX:
        return SX.sym("x", self.closing.size)

    @cached_property
    def phi(self) -> SX:
        return self.closing.evaluate(self.x)[0]

    @cached_property
    def points(self) -> Array:
        return np.array([self.closing.start(self.rng) for _ in range(POINTS)])

    @cached_property
    def feels(self) -> NDArray[np.bool_]:
        """Which rows of phi feel which unknowns."""
        rates = np.abs(self.at(horzcat(*[along(self.phi, self.x, u) for u in self.unknowns])))
        return np.asarray(rates.max(axis=0) > EXACT * rates.max(initial=1e-300))

    def at(self, value: SX, points: Array | None = None) -> Array:
        """A value at points: one after the other along the first axis."""
        function = Function("value", [self.x], [densify(value)])
        return np.array([np.array(function(point)) for point in (self.points if points is None else points)])

    def step(self) -> tuple[Search, tuple[Move, ...]] | None:
        """The cheapest moves that the constraints allow, and the search without their unknowns."""
        for candidates in (self.rows, self.pairs, self.triples):
            found = [(self.cost(moves), n, moves, left) for n, (moves, left) in enumerate(candidates())]
            if found:
                _, _, moves, left = min(found, key=lambda one: one[:2])
                return replace(self, unknowns=left), moves
        return None

    def cost(self, moves: Sequence[Move]) -> int:
        """The number of operations."""
        results = [value for move in moves for value in move.motion(self.x, self.phi)]
        return int(Function("moves", [self.x], results).n_instructions())

    def rows(self) -> Iterator[tuple[tuple[Move, ...], tuple[Direction, ...]]]:
        """Rows that give one unknown: the others that they hold, if any, then move it by constant ratios."""
        for row in range(len(self.feels)):
            held = [u for u, feels in zip(self.unknowns, self.feels[row], strict=True) if feels]
            for own in held:
                others = [u for u in self.unknowns if u is not own]
                move = self.solved(Move(own, "row", (row,)))
                ratios = self.ratios(row, own, others)
                if move and ratios is not None:
                    yield (move,), tuple(_followed(u, own, c) for u, c in zip(others, ratios, strict=True))

    def ratios(self, row: int, own: Direction, others: Sequence[Direction]) -> list[float] | None:
        """How far an unknown moves with each of the others while a row stays; None unless by constant ratios."""
        found, first = [], self.at(along(self.phi[row], self.x, own)).ravel()
        for other in others:
            rate = self.at(along(self.phi[row], self.x, other)).ravel()
            ratio = -float(first @ rate) / float(first @ first)
            if np.abs(rate + ratio * first).max() > EXACT * np.abs(first).max():
                return None
            found.append(_simple(ratio))
        return found

    def pairs(self) -> Iterator[tuple[tuple[Move, ...], tuple[Direction, ...]]]:
        """Dyads: two unknowns in rows that hold no other ones."""
        for u, w in permutations(self.unknowns, 2):
            rows, left = self.group((u, w))
            if len(rows) < 2:
                continue
            last = self.placed(Move(w, "on rod", rows))
            if last is None:
                continue
            if last.rate:
                moves = [self.solved(Move(u, "off rod", rows, (w,), rates=(last.rate,)))]
            else:
                moves = [self.solved(Move(u, "off line", two, (w,))) for two in combinations(rows, 2)]
            move = max((move for move in moves if move), key=lambda one: one.size, default=None)
            if move:
                yield (move, last), left

    def triples(self) -> Iterator[tuple[tuple[Move, ...], tuple[Direction, ...]]]:
        """Rods between two ball joints: three unknowns in three rows that hold no other ones."""
        for u, w1, w2 in permutations(self.unknowns, 3):
            rows, left = self.group((u, w1, w2))
            last = self.placed(Move(w1, "on rod", rows)) if len(rows) == 3 else None
            if last is None or not last.rate:
                continue
            axes = [self.solved(Move(w2, "off axis", rows, (w1,), at=at)) for at in ARMS]
            axis = max((axis for axis in axes if axis), key=lambda one: one.size, default=None)
            if axis is None or not axis.rate:
                continue
            move = self.solved(Move(u, "off rod", rows, (w1, w2), rates=(last.rate, axis.rate)))
            if move:
                yield (move, axis, last), left

    def group(self, unknowns: Sequence[Direction]) -> tuple[tuple[int, ...], tuple[Direction, ...]]:
        """The rows that feel some of these unknowns and no others, and the others."""
        own = np.array([u in unknowns for u in self.unknowns])
        rows = self.feels[:, own].any(axis=1) & ~self.feels[:, ~own].any(axis=1)
        return tuple(np.flatnonzero(rows).tolist()), tuple(u for u in self.unknowns if u not in unknowns)

    def placed(self, move: Move) -> Move | None:
        """The last move of a group with its rate, if the unknown turns rows about an axis or moves them on a line."""
        first = along(self.phi[list(move.rows)], self.x, move.unknown)
        rate = self.rate(first, move.unknown)
        if rate is None:
            return None
        return replace(move, rate=rate, how="on rod" if rate else "on line")

    def solved(self, move: Move) -> Move | None:
        """The move with its rate and size, if its equation holds no other unknown and is a sinusoid or linear."""
        equation = move.equation(self.x, self.phi, ())
        rate = self.rate(equation.first, move.unknown)
        least = EXACT * np.abs(self.at(equation.first)).max()
        if rate is None or any(np.abs(self.at(along(equation.f, self.x, w))).max() > least for w in move.others):
            return None
        A, B = self.at(vertcat(equation.first, equation.second), self.states).reshape(-1, 2).T
        size = np.mean(A**2 / rate**2 + B**2 / rate**4) if rate else np.mean(A**2)
        return replace(move, rate=rate, size=float(size))

    def rate(self, first: SX, unknown: Direction) -> float | None:
        """k of a value with this derivative, whose third one is -k^2 times it; 0 if it is linear, None if neither."""
        second = along(first, self.x, unknown)
        one, two, three = (self.at(value).ravel() for value in (first, second, along(second, self.x, unknown)))
        scale = np.abs(one).max(initial=0.0)
        if np.abs(two).max(initial=0.0) <= EXACT * scale:
            return 0.0 if scale else None
        squared = -float(one @ three) / float(one @ one) if scale else 0.0
        if squared <= 0.0 or np.abs(three + squared * one).max() > EXACT * np.abs(three).max():
            return None
        return _simple(float(np.sqrt(squared)))


def _simple(rate: float) -> float:
    """A rate, or the ratio of small numbers that it is up to rounding."""
    near = float(Fraction(rate).limit_denominator(1000))
    return near if abs(rate - near) <= EXACT * max(abs(near), EXACT) else rate


def _followed(unknown: Direction, own: Direction, ratio: float) -> Direction:
    """An unknown that another one follows by a ratio."""
    return (*unknown, *((place, ratio * factor) for place, factor in own)) if ratio else unknown
