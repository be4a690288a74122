"""The rows that PV-early carries inwards: K a = l of a subtree, which of them a joint lets go, and the way back.

With y = S' K', a joint adds y' D^-1 y to the rows' own compliance, of rank n at most. Reflections Q turn the rows so
that the first n alone couple; their multipliers follow from the parent's acceleration, L lam1 = l1 - K1 a, so they act
on the parent as the inertia K1' L^-1 K1 and the force K1' L^-1 l1 (2024 paper, sec. VI). Combinations that a joint
cannot follow at any configuration (parallel hinges, say) are found by numbers drawn at random, and passed on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from casadi import SX, Function, horzcat, symvar, vertcat

from codegen.spatial import LDL, ArticulatedInertia, NodeInertia, Reflections, ldl, reflections, zeros
from codegen.tree import Tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOFT = 1e-8  # a joint that at some state yields less than this to a row holds it this softly; less would round off more
DRAWS = 3  # random states at which a joint is asked which rows it can follow
FOLLOWS = 1e-9  # below this times the contacts' rows, what a joint yields is rounding


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rows at one node: forces K' of their unit multipliers (6 k x r) and wanted values l (r)."""

    F: SX
    l: SX

    @property
    def size(self) -> int:
        """Number of rows r."""
        return int(self.F.size2())


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows at every node (-1: the world), and where each node's kept rows stand among its parent's."""

    wanted: dict[int, Wanted]
    places: dict[int, slice]
    contacts: tuple[slice, ...]

    @classmethod
    def of(cls, tree: Tree, s: SX) -> Rows:
        """The contacts' own rows, which want s (m)."""
        heights = zip((*tree.outwards, -1), tree.rows, strict=True)
        rows = cls({i: Wanted(zeros(height, 0), zeros(0)) for i, height in heights}, {}, ())
        for contact in tree.contacts:
            start = rows.at(contact.node).size
            rows = rows.passed(contact.node, Wanted(contact.force, s[contact.rows]))
            rows = replace(rows, contacts=(*rows.contacts, slice(start, start + contact.size)))
        return rows

    def at(self, i: int) -> Wanted:
        """The rows at node i."""
        return self.wanted[i]

    def passed(self, i: int, more: Wanted, child: int | None = None) -> Rows:
        """With more rows at node i, which `child` kept."""
        old = self.wanted[i]
        new = Wanted(horzcat(old.F, more.F), vertcat(old.l, more.l))
        places = self.places if child is None else {**self.places, child: slice(old.size, new.size)}
        return replace(self, wanted={**self.wanted, i: new}, places=places)

    def of_contacts(self, tree: Tree, lam: dict[int, SX]) -> SX:
        """The contacts' multipliers (m) from those at the nodes."""
        parts = [lam[contact.node][place, :] for contact, place in zip(tree.contacts, self.contacts, strict=True)]
        return vertcat(*parts) if parts else zeros(0)


@dataclass(frozen=True, slots=True)
class Gone:
    """What joint i let go: y (n x r), the reflections, and K1', l1 and L of the rows that follow it."""

    y: SX
    Q: Reflections
    F: SX
    l: SX
    L: LDL
    inertia: NodeInertia

    @property
    def force(self) -> SX:
        """K1' L^-1 l1, on the parent node."""
        return self.F @ self.L.solve(self.l) if self.l.size1() else zeros(self.F.size1())

    def multipliers(self, a: SX, kept: SX) -> SX:
        """All multipliers of the node's rows (r), from the parent's acceleration and the kept rows' multipliers."""
        if not self.l.size1():
            return kept
        return self.Q.back(vertcat(self.L.solve(self.l - self.F.T @ a), kept))


def let_go(tree: Tree, i: int, rows: Wanted, U: SX, D: LDL, u: SX) -> tuple[Gone, Wanted]:
    """Pass joint i: what it lets go, and the rows that the parent still has to hold."""
    y = tree.S[i].T @ rows.F if rows.size else zeros(D.size, 0)
    chosen = following(tree, y)
    Q, R = reflections(y.T[:, chosen])
    n = R.size1()
    R = R if n == 0 or len(chosen) == y.size1() else Q.rows(y.T)[:n, :]
    F = Q.columns(tree.X[i].force(rows.F - U @ D.solve(y)) if rows.size else zeros(tree.rows[tree.parent[i]], 0))
    l = Q.rows(rows.l - y.T @ D.solve(u)) if rows.size else rows.l
    L = ldl(R @ D.solve(R.T), SOFT, SOFT) if n else LDL(zeros(0, 0), (), ())
    return Gone(y, Q, F[:, :n], l[:n, :], L, stiffness(tree, i, F[:, :n], L)), Wanted(F[:, n:], l[n:, :])


def following(tree: Tree, y: SX) -> list[int]:
    """Columns of y' (r x n) that are independent at a generic configuration, and span the others."""
    if y.is_zero():
        return []
    drawn = [_drawn(tree, y.T, seed) for seed in range(DRAWS)]
    least = FOLLOWS * max(contact.scale for contact in tree.contacts)
    chosen: list[int] = []
    for n in range(y.size1()):
        columns = [*chosen, n]
        if all(np.linalg.matrix_rank(values[:, columns], least) == len(columns) for values in drawn):
            chosen = columns
    return chosen


def _drawn(tree: Tree, x: SX, seed: int) -> NDArray[np.float64]:
    """x at a random configuration, and random values of whatever else it depends on."""
    own = {element.element_hash() for element in symvar(tree.q)}
    others = [symbol for symbol in symvar(x) if symbol.element_hash() not in own]
    rng = np.random.default_rng(seed)
    numbers = [tree.model.random(rng)[0], *rng.uniform(0.5, 1.5, len(others))]
    return np.array(Function("x", [tree.q, *others], [x])(*numbers))


def stiffness(tree: Tree, i: int, F: SX, L: LDL) -> NodeInertia:
    """K1' L^-1 K1 on the body of the parent node that carries node i."""
    parent, hub = tree.parent[i], tree.X[i].hub
    count, none = tree.rows[parent] // 6, ArticulatedInertia.none()
    if not F.size2():
        return NodeInertia((none,) * count)
    H = L.half(F[6 * hub : 6 * hub + 6, :].T)
    A = H.T @ L.scale(H)
    added = ArticulatedInertia(A[:3, :3], A[:3, 3:], A[3:, 3:])
    return NodeInertia(tuple(added if b == hub else none for b in range(count)))
