"""The dual matrix W = J M^-1 J' of constrained dynamics: ways to solve with it, and its inverse.

Proximal iterations settle at W^-1, which their steps with F = (W + D)^-1 approach by F + F D F + F D F D F + ... Where
rows depend on each other W has no inverse, and multipliers z with J' z = 0 grow with every step. The limit without them
is the pseudo-inverse of least squares with weights D^-1, W+ = D^-1/2 (D^-1/2 W D^-1/2)^+ D^-1/2. The last power of N,
subtracted N - 1 times, cancels what grew.

Along a direction of eigenvalue w of D^-1/2 W D^-1/2, N steps lack the part r^N, r = 1/(1 + w). The trace of D F is the
sum of all r: no r exceeds it, and it is close to the largest unless many directions are close to singular at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from casadi import DM, SX, Function, depends_on, diag, symvar, trace, vertcat
from numpy.linalg import matrix_rank
from numpy.random import default_rng

from codegen.kinematic_loops.states import random
from codegen.recursions.products import Product, Result
from codegen.recursions.tree import Tree
from codegen.spatial import LDL, diagonal, flagged, ldl, semidefinite_ldl

STEPS = 6  # of the proximal iteration: the damping of the first is undone to its sixth power
SQUARED = 7  # of that to least squares, which are as near
UNSETTLED = 0.2  # the sum of r beyond which the status tells; up to there six steps lack 1e-4 along a direction at most
STATES, RANK = 3, 1e-8  # at which rows are compared, and the singular value below which they depend on each other


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """Redundant rows: W itself, the damping D (m), and the multipliers lam0 (m) that the iteration starts from."""

    W: SX
    damping: SX
    lam0: SX


@dataclass(frozen=True, slots=True)
class Dual:
    """How to solve with W (m x m), and the negative of its inverse; of redundant rows W+, and what they are."""

    solve: Callable[[SX], SX]
    negative: Callable[[], Result]
    redundant: LeastSquares | None = None

    def idle(self, x: SX) -> SX:
        """The part of multipliers (m x n) that exerts no force: of redundant rows."""
        return x - self.solve(self.redundant.W @ x) if self.redundant else SX(*x.shape)


Solver = Callable[[SX], Dual]
"""What makes a way to solve with W of W."""


def direct(W: SX) -> Dual:
    """W itself."""
    return _solved(semidefinite_ldl(W))


def soft(R: SX) -> Solver:
    """W + R, for softness R (m)."""
    return lambda W: _solved(ldl(W + diagonal(R, W.size1())))


def proximal(tree: Tree, J: SX, mu: SX, lam0: SX) -> Solver:
    """W as the proximal iteration settles for rows J (m x nv), with penalties mu (one, or m), from lam0 (m)."""

    def solver(W: SX) -> Dual:
        m, idle = tree.m, redundant(tree, J)
        damped = ldl(W + diagonal(1 / mu, m))
        share = trace(diagonal(1 / mu, m) @ damped.solve(SX.eye(m)))
        D = diagonal(flagged(1 / mu, share - idle > UNSETTLED), m)
        if idle:
            return _least_squares(damped, D, LeastSquares(W, diag(diagonal(1 / mu, m)), lam0))
        return _settled(damped, D)

    return solver


def redundant(tree: Tree, J: SX) -> int:
    """How many rows J (m x nv) depend on the others at every configuration; tried at random ones."""
    others = [x for x in symvar(J) if not depends_on(tree.q, x)]
    rng, rank = default_rng(0), Function("J", [tree.q, vertcat(SX(0, 1), *others)], [J])
    ranks = [
        matrix_rank(DM(rank(random(tree.model, rng)[0], rng.standard_normal(len(others)))).full(), RANK)
        for _ in range(STATES)
    ]
    return int(tree.m - max(ranks))


def _solved(factors: LDL) -> Dual:
    """A matrix by its factors."""
    return Dual(factors.solve, lambda: negative_inverse(factors))


def negative_inverse(factors: LDL) -> Result:
    """-A^-1 = -L'^-1 D^-1 L^-1."""
    half = factors.forward(SX.eye(factors.size))
    return Product(half, -factors.scale(half), transposed=True, symmetric=True)


def _settled(damped: LDL, D: SX) -> Dual:
    """W by the factors of W + D."""

    def solve(B: SX) -> SX:
        X = damped.solve(B)
        for _ in range(STEPS - 1):
            X = damped.solve(B + D @ X)
        return X

    def negative() -> Result:
        first = damped.inverse()
        undone, last = D @ first, -first
        X: Result = last
        for _ in range(STEPS - 1):
            X = Product(X, undone, last)
        return X

    return Dual(solve, negative)


def _least_squares(damped: LDL, D: SX, rows: LeastSquares) -> Dual:
    """W+ by the factors of W + D."""

    def solve(B: SX) -> SX:
        X = damped.solve(B)
        X = damped.solve(B - (SQUARED - 1) * (D @ X))
        for _ in range(SQUARED - 2):
            X = damped.solve(B + D @ X)
        return X

    def negative() -> Result:
        first = damped.inverse()
        undone, last = D @ first, -first
        X = Product(last, -(SQUARED - 1) * undone, last)
        for _ in range(SQUARED - 2):
            X = Product(X, undone, last)
        return X

    return Dual(solve, negative, rows)
