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
from typing import Any

from casadi import DM, SX, Function, depends_on, diag, symvar, trace, vertcat
from numpy.linalg import matrix_rank
from numpy.random import default_rng

from codegen.kinematic_loops.states import random
from codegen.recursions.composition import Parts
from codegen.recursions.delassus import jacobian_transpose
from codegen.recursions.factors import Factors, negative_inverse
from codegen.recursions.products import Product, Result, added, times_left
from codegen.recursions.scaling import negated, scaled
from codegen.recursions.tree import Tree
from codegen.spatial import diagonal, flagged
from codegen.spatial.solve import VANISHING

STEPS = 6  # of the proximal iteration: the damping of the first is undone to its sixth power
SQUARED = 7  # of that to least squares, which are as near
UNSETTLED = 0.2  # the sum of r beyond which the status tells; up to there six steps lack 1e-4 along a direction at most
STATES, RANK = 3, 1e-8  # at which rows are compared, and the singular value below which they depend on each other


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """Redundant rows: W itself, the damping D (m), and the multipliers lam0 (m) that the iteration starts from."""

    W: Result
    damping: SX
    lam0: SX


@dataclass(frozen=True, slots=True)
class Dual:
    """How to solve with W (m x m), and the negative of its inverse; of redundant rows W+, and what they are.

    By a law that is not linear, multipliers solve for one column, what rows lack without them, and the negative is that
    of how they change with it: at what rows lack, and multipliers there. It need not be symmetric.
    """

    solve: Callable[[Any], Any]
    negative: Callable[[SX, SX], Result]
    redundant: LeastSquares | None = None
    symmetric: bool = True

    def idle(self, x: Result) -> Result:
        """The part of multipliers (m x n) that exerts no force: of redundant rows."""
        if not self.redundant:
            return SX(*x.shape)
        W = self.redundant.W
        if isinstance(W, SX) and isinstance(x, SX):
            return SX(x - self.solve(W @ x))
        return Product(self.solve(Product(W, x)), -SX.eye(x.shape[1]), x)


Solver = Callable[[Result, Parts], Dual]
"""What makes a way to solve with W of W, by expressions or by loops."""


def direct(W: Result, parts: Parts) -> Dual:
    """W itself."""
    return _solved(parts.factors(W, VANISHING), parts)


def soft(R: SX) -> Solver:
    """W + R, for softness R (m)."""
    return lambda W, parts: _solved(parts.factors(added(W, diagonal(R, W.shape[0]))), parts)


def proximal(tree: Tree, mu: SX, lam0: SX) -> Solver:
    """W as the proximal iteration settles with penalties mu (one, or m), from lam0 (m)."""

    def solver(W: Result, parts: Parts) -> Dual:
        m, idle = tree.m, redundant(tree, jacobian_transpose(tree).T)
        damped = parts.factors(added(W, diagonal(1 / mu, m)))
        share = trace(diagonal(1 / mu, m) @ parts.numbers(damped.solve(SX.eye(m))))
        D = diagonal(flagged(1 / mu, share - idle > UNSETTLED), m)
        if idle:
            return _least_squares(damped, D, LeastSquares(W, diag(diagonal(1 / mu, m)), lam0), parts)
        return _settled(damped, D, parts)

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


def _solved(factors: Factors, parts: Parts) -> Dual:
    """A matrix by its factors."""
    return Dual(lambda B: parts.numbers(factors.solve(B)), lambda *_: negative_inverse(factors))


def _settled(damped: Factors, D: SX, parts: Parts) -> Dual:
    """W by the factors of W + D."""

    def solve(B: SX) -> SX:
        X = parts.numbers(damped.solve(B))
        for _ in range(STEPS - 1):
            X = parts.numbers(damped.solve(B + D @ X))
        return X

    def negative(*at: SX) -> Result:
        first = damped.inverse()
        undone, last = times_left(D, first), negated(first)
        X: Result = last
        for _ in range(STEPS - 1):
            X = Product(X, undone, last)
        return X

    return Dual(solve, negative)


def _least_squares(damped: Factors, D: SX, rows: LeastSquares, parts: Parts) -> Dual:
    """W+ by the factors of W + D."""

    def solve(B: Result) -> Any:
        going_on = parts.numbers if B.shape[1] == 1 else _as_it_is
        X = going_on(damped.solve(B))
        X = going_on(damped.solve(_less(B, SQUARED - 1, D, X)))
        for _ in range(SQUARED - 2):
            X = going_on(damped.solve(_more(B, D, X)))
        return X

    def negative(*at: SX) -> Result:
        first = damped.inverse()
        undone, last = times_left(D, first), negated(first)
        X: Result = Product(last, scaled((undone,), -(SQUARED - 1))[0], last)
        for _ in range(SQUARED - 2):
            X = Product(X, undone, last)
        return X

    return Dual(solve, negative, rows)


def _as_it_is(X: Result) -> Result:
    return X


def _more(B: Any, D: SX, X: Result) -> Result:
    """B + D X."""
    return SX(B + D @ X) if isinstance(X, SX) else Product(D, X, B)


def _less(B: Any, times: int, D: SX, X: Result) -> Result:
    """B less several times D X."""
    return SX(B - times * (D @ X)) if isinstance(X, SX) else Product(-times * D, X, B)
