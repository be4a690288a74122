"""Coulomb's law at all points at once: rows move as c (m) + W lam (W m x m), and forces lam obey it point by point.

Gauss and Seidel's sweeps (Jourdan, Alart, Jean, A Gauss-Seidel like algorithm to solve frictional contact problems,
1998) solve point after point. Newton's method takes every point's branch of the law as it is (Alart and Curnier, A
mixed formulation for frictional contact problems prone to Newton like solution methods, 1991): close to the solution it
squares errors, also where motions of points are closely coupled, as those of a sole are. Its step is taken if it lacks
less than before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from casadi import SX, diagcat, fabs, if_else, sumsqr, trace, vertcat

from codegen.recursions.composition import Parts
from codegen.recursions.coulomb import branch, cone_force, lack
from codegen.recursions.products import Result, times_left
from codegen.recursions.systems import Solved
from codegen.recursions.tree import LoweredContact
from codegen.spatial import eliminated, semidefinite_ldl
from codegen.spatial.solve import VANISHING

WITHOUT = 1e35  # what vanishing pivots of a step become: it leaves their directions out


@dataclass(frozen=True, slots=True)
class Friction:
    """The contacts, and W."""

    contacts: Sequence[LoweredContact]
    W: SX

    def __str__(self) -> str:
        return f"{self.W.size1()} rows of {len(self.contacts)} contacts that may break and slip"

    def swept(self, c: SX, lam: SX) -> SX:
        """Forces after one sweep over the points."""
        found = SX(lam)
        for contact in self.contacts:
            rows, own = contact.rows, self.W[contact.rows, contact.rows]
            others = c[rows] + self.W[rows, :] @ found - own @ found[rows]
            if contact.friction is None:
                found[rows] = -semidefinite_ldl(own).solve(others)
            else:
                found[rows] = cone_force(own, others, contact.friction)
        return found

    def step(self, c: SX, lam: SX) -> SX:
        """Forces after one step of Newton's method, if they lack less than before."""
        T, E, H = self._branches(c, lam)
        least = VANISHING * self._size
        lacks = E @ (T @ (c + self.W @ lam)) + H @ (T @ lam)
        change = eliminated(E @ (T @ self.W @ T.T) + H, lacks, lambda d: if_else(fabs(d) > least, d, WITHOUT))
        found = lam - T.T @ change
        return if_else(sumsqr(self.lack(c, found)) < sumsqr(self.lack(c, lam)), found, lam)

    def lack(self, c: SX, lam: SX) -> SX:
        """What forces lack of the law (m), in units of motion."""
        motion = c + self.W @ lam
        return vertcat(*[lack(self.W[e.rows, e.rows], motion[e.rows], lam[e.rows], e.friction) for e in self.contacts])

    def changes(self, c: SX, lam: SX, parts: Parts) -> Result:
        """How forces that obey the law change with c (m x m); with independent rows, or the status tells."""
        T, E, H = self._branches(c, lam)
        return times_left(-T.T, parts.solved(Solved(E @ (T @ self.W @ T.T) + H, E @ T, size=self._size)))

    def _branches(self, c: SX, lam: SX) -> tuple[SX, SX, SX]:
        """T, E and H of all rows."""
        motion = c + self.W @ lam
        own = [branch(self.W[e.rows, e.rows], motion[e.rows], lam[e.rows], e.friction) for e in self.contacts]
        T, E, H = (diagcat(*parts) for parts in zip(*own, strict=True))
        return T, E, H

    @property
    def _size(self) -> SX:
        """What pivots are compared with: those of rows that depend on others vanish beside it."""
        return trace(self.W) / self.W.size1()
