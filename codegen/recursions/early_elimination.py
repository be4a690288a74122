"""Early elimination, as in PV-early: rows K a = l of a subtree, which of them a joint eliminates, and the way back.

With y = S' K', a joint adds y' D^-1 y to the rows' own compliance, of rank n at most. Reflections Q turn the rows so
that the first n alone couple. One of them waits for the next joint; the others' multipliers follow from the parent's
acceleration, L lam1 = l1 - K1 a - G' lam with L and G blocks of the compliance, so that they act on the parent as the
inertia K1' L^-1 K1 and the force K1' L^-1 l1 (2024 paper, sec. VI). Waiting keeps the digits where a joint yields next
to nothing to some row, but the next one does, as in a stretched leg; the world is never waited for, and rows that find
next to nothing even at the root are left out, which the status tells. Where the row that waited may still find next to
nothing, it goes on waiting, and the one that is new goes (`Exchange`). Combinations that a joint cannot follow at any
configuration (parallel hinges, say) are found by numbers drawn at random, and passed on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from casadi import SX, Function, diagcat, fmax, fmin, horzcat, symvar, vertcat

from codegen.kinematic_loops import states
from codegen.model import Model
from codegen.recursions.tree import Tree
from codegen.spatial import (
    LDL,
    ArticulatedJoint,
    Reflections,
    constant,
    ldl,
    reflections,
    semidefinite_ldl,
    zeros,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOFT = 1e-8  # rows to which joints yield less than this when they go are held this softly; less would round off more
MANY, NEXT_TO_NOTHING = 200, 1e-2  # a pivot that vanishes somewhere falls below this part of its median
DRAWS = 3  # random states at which a joint is asked which rows it can follow
FOLLOWS = 1e-9  # below this times the contacts' rows, what a joint yields is rounding


@dataclass(frozen=True, slots=True)
class ConstraintBlock:
    """Rows at one node: forces K' of their unit multipliers (6 k x r), wanted values l (r), compliance P (r x r).

    P is diagonal, with entries only where a joint has yielded to a row already.
    """

    F: SX
    l: SX
    P: SX

    @property
    def size(self) -> int:
        """Number of rows r."""
        return int(self.F.size2())

    def beside(self, more: ConstraintBlock) -> ConstraintBlock:
        """These rows, and after them others of the same node."""
        return ConstraintBlock(horzcat(self.F, more.F), vertcat(self.l, more.l), diagcat(self.P, more.P))

    @property
    def yielding(self) -> list[int]:
        """The rows to which a joint has yielded."""
        return [r for r in range(self.size) if self.P[r, r].nnz()]


@dataclass(frozen=True, slots=True)
class ConstraintRows:
    """The rows at every node (-1: the world), and where each node's kept rows stand among its parent's."""

    wanted: dict[int, ConstraintBlock]
    places: dict[int, slice]
    contacts: tuple[slice, ...]

    @classmethod
    def of(cls, tree: Tree, s: SX) -> ConstraintRows:
        """The contacts' own rows, which want s (m)."""
        heights = zip((*tree.outwards, -1), tree.rows, strict=True)
        rows = cls({i: ConstraintBlock(zeros(height, 0), zeros(0), zeros(0, 0)) for i, height in heights}, {}, ())
        for contact in tree.contacts:
            start = rows.at(contact.node).size
            rows = rows.passed(
                contact.node, ConstraintBlock(contact.force, s[contact.rows], zeros(contact.size, contact.size))
            )
            rows = replace(rows, contacts=(*rows.contacts, slice(start, start + contact.size)))
        return rows

    def at(self, i: int) -> ConstraintBlock:
        """The rows at node i."""
        return self.wanted[i]

    def passed(self, i: int, more: ConstraintBlock, child: int | None = None) -> ConstraintRows:
        """With more rows at node i, which `child` kept."""
        old = self.wanted[i]
        new = old.beside(more)
        places = self.places if child is None else {**self.places, child: slice(old.size, new.size)}
        return replace(self, wanted={**self.wanted, i: new}, places=places)

    def of_contacts(self, tree: Tree, lam: dict[int, SX]) -> SX:
        """The contacts' multipliers (m) from those at the nodes."""
        parts = [lam[contact.node][place, :] for contact, place in zip(tree.contacts, self.contacts, strict=True)]
        return vertcat(*parts) if parts else zeros(0)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The first two of some rows change places where `wrong` is true, if it is given at all."""

    wrong: SX | None = None

    def rows(self, A: SX) -> SX:
        """A matrix with these rows; once more, and all stand as before."""
        if self.wrong is None:
            return A
        step = self.wrong * (A[1, :] - A[0, :])
        return vertcat(A[0, :] + step, A[1, :] - step, A[2:, :])


@dataclass(frozen=True, slots=True)
class EliminatedRows:
    """What joint i let go: the reflections of the rows `new`, and of those that follow it K1' (on node i), l1 and L.

    `old` are rows to which a joint had yielded before; the joint yields to the first ones by y (n x c). G is what the
    row that waits for the next joint gives way to the others.
    """

    y: SX
    old: list[int]
    new: list[int]
    Q: Reflections
    F: SX
    l: SX
    L: LDL
    G: SX
    exchange: Exchange

    @property
    def force(self) -> SX:
        """K1' L^-1 l1, on node i if its joint is free."""
        return self.F @ self.L.solve(self.l) if self.l.size1() else zeros(self.F.size1())

    def multipliers(self, a: SX, kept: SX) -> tuple[SX, SX]:
        """All multipliers of the node's rows (r), and the joint forces (n) that they are.

        From the acceleration of node i if its joint stood still, and the kept rows' multipliers.
        """
        if self.l.size1():
            waiting = self.G.size1()
            followed = self.L.solve(self.l - self.F.T @ a - self.G.T @ kept[:waiting, :])
            kept = self.exchange.rows(vertcat(followed, kept))
        push, lam = self.y @ kept[: self.y.size2(), :], zeros(len(self.old) + len(self.new))
        lam[self.old] = kept[: len(self.old), :]
        lam[self.new] = self.Q.back(kept[len(self.old) :, :])
        return lam, push


def eliminate_rows(
    tree: Tree, i: int, rows: ConstraintBlock, joint: ArticulatedJoint, u: SX
) -> tuple[EliminatedRows, ConstraintBlock]:
    """Pass joint i: what it lets go, and the rows that the parent still has to hold."""
    D = joint.D
    y, old = tree.S[i].T @ rows.F if rows.size else zeros(D.size, 0), rows.yielding
    new = [r for r in range(rows.size) if r not in old]
    chosen = following(tree, y[:, new])
    Q, R = reflections(y[:, new].T @ mixed(D.size, len(new), chosen))
    n = R.size1()
    R = R if n == 0 or len(chosen) == y.size1() else Q.rows(y[:, new].T)[:n, :]
    # rows that couple, then the others, as the joint, if free, lets them through
    couples, c = horzcat(y[:, old], R.T), len(old) + n
    K = horzcat(rows.F[:, old], Q.columns(rows.F[:, new]))
    K = joint.projected_force(K, horzcat(-D.solve(couples), zeros(D.size, rows.size - c)))
    l = vertcat(rows.l[old, :], Q.rows(rows.l[new, :]))
    l = vertcat(l[:c, :] - couples.T @ D.solve(u), l[c:, :])
    half = D.forward(couples)
    M = diagcat(rows.P[old, old], zeros(n, n)) + half.T @ D.scale(half)
    # all that couple follow the parent, but for the last, which waits for the next joint to yield to it as well
    e = c if tree.parent[i] < 0 else max(c - 1, 0)
    exchange = Exchange(M[0, 0] < M[1, 1] if len(old) == e == 1 == n and may_vanish(tree, M[0, 0]) else None)
    K, l = exchange.rows(K.T).T, exchange.rows(l)
    if exchange.wrong is not None:
        M[0, 0], M[1, 1] = fmax(M[0, 0], M[1, 1]), fmin(M[0, 0], M[1, 1])
    pivots, least = M[:e, :e], least_square(tree)
    L = semidefinite_ldl(pivots, SX(least), SOFT) if tree.parent[i] < 0 else ldl(pivots, SOFT * least)
    G = M[e:, :e]
    g = L.solve(G.T) if e else G.T
    waiting = ConstraintBlock(K[:, e:c] - K[:, :e] @ g, l[e:c, :] - g.T @ l[:e, :], M[e:, e:] - G @ g)
    rest = ConstraintBlock(K[:, c:], l[c:, :], zeros(rows.size - c, rows.size - c))
    kept = waiting.beside(rest)
    return EliminatedRows(couples, old, new, Q, K[:, :e], l[:e, :], L, G, exchange), replace(
        kept, F=tree.X[i].force(kept.F)
    )


def may_vanish(tree: Tree, pivot: SX) -> bool:
    """Whether a pivot (1 x 1) is next to nothing at some configurations, by its values at many random ones."""
    many = np.array(drawn(tree, pivot, MANY))
    return bool(many.min() < NEXT_TO_NOTHING * np.median(many))


def mixed(freedoms: int, rows: int, chosen: list[int]) -> SX:
    """What picks the chosen freedoms out of all (freedoms x n); fixed combinations of all where these span less.

    A chosen freedom may yield nothing at some configuration where one that was left out does: then only combinations
    span what all do (powers of numbers from -1 to 1: of Vandermonde's matrix any n rows are independent).
    """
    n = len(chosen)
    if 0 < n < min(freedoms, rows):
        return constant(np.vander(np.linspace(-1.0, 1.0, freedoms), n, increasing=True))
    return SX.eye(freedoms)[:, chosen]


def least_square(tree: Tree) -> float:
    """The mean square of the rows of that contact whose rows are smallest; one for rows of length one or more."""
    return min([1.0, *(contact.scale**2 / contact.size for contact in tree.contacts if contact.scale)])


def following(tree: Tree, y: SX) -> list[int]:
    """Columns of y' (r x n) that are independent at a generic configuration, and span the others."""
    if y.is_zero():
        return []
    draws = drawn(tree, y.T)
    least = FOLLOWS * max(contact.scale for contact in tree.contacts)
    chosen: list[int] = []
    for n in range(y.size1()):
        columns = [*chosen, n]
        if all(np.linalg.matrix_rank(values[:, columns], least) == len(columns) for values in draws):
            chosen = columns
    return chosen


def drawn(tree: Tree, x: SX, number: int = DRAWS) -> list[NDArray[np.float64]]:
    """x at random configurations, and random values of whatever else it depends on."""
    own = {element.element_hash() for element in symvar(tree.q)}
    others = [symbol for symbol in symvar(x) if symbol.element_hash() not in own]
    values = Function("x", [tree.q, *others], [x])
    draws = np.random.default_rng(0).uniform(0.5, 1.5, (number, len(others)))
    return [np.array(values(q, *draw)) for q, draw in zip(_configurations(tree.model, number), draws, strict=True)]


@lru_cache(maxsize=8)
def _configurations(model: Model, number: int) -> list[NDArray[np.float64]]:
    """Random configurations of a robot."""
    return [states.random(model, seed)[0] for seed in range(number)]
