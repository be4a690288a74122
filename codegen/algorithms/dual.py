"""The dual problem W lam = missing of constrained dynamics: its set-up by the PV sweep, and its proximal solution.

Sathya and Carpentier 2024 (hal-04443056), sec. II and IV: W the Delassus matrix, `missing` what the contacts' rows lack
when no multiplier acts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from casadi import SX, vertcat

from codegen.algorithms.bundling import worth_bundling
from codegen.algorithms.iteration import Iteration
from codegen.algorithms.motion import forces, resting, shortfall
from codegen.algorithms.reduced import reduced
from codegen.algorithms.rooted import Rooted, by_branches
from codegen.algorithms.streams import Streams, gathered
from codegen.algorithms.sweeps import Articulated, articulated, rolled_out, transmitted
from codegen.spatial import diagonal
from codegen.tree import Tree


@dataclass(frozen=True, slots=True)
class Dual:
    """The dual problem W lam = missing, and what brings multipliers back to the joints."""

    W: Rooted
    missing: SX
    a0: SX
    A: Articulated
    u: dict[int, SX]
    met: Streams


def dual(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX) -> Dual:
    """The dual problem by the Popov-Vereshchagin backward sweep, its streams bundled where that pays."""
    (a0, motion), A = resting(tree, v), articulated(tree, tree.I)
    u = transmitted(tree, A, forces(tree, motion, f_ext), dict(enumerate(tree.split(tau))), tree.inwards)
    met = gathered(tree, A, worth_bundling(tree))
    free = met.seen({i: A[i].D.solve(u[i]) for i in tree.support})
    roots = {i: (A[i].D.inverse(), met.at_root(tree, i)) for i in tree.support if tree.parent[i] < 0}
    W = by_branches(tree, reduced(tree, A, met), reduced(tree, A, met, roots=False), roots)
    return Dual(W, shortfall(tree, motion, k) - free, a0, A, u, met)


def with_multipliers(tree: Tree, problem: Dual, lam: SX) -> SX:
    """Joint accelerations (nv) under the multipliers lam (m)."""
    pushed = problem.met.pushed([lam[contact.rows] for contact in tree.contacts])
    u = {i: u_i + pushed[i] if i in pushed else u_i for i, u_i in problem.u.items()}
    y, _ = rolled_out(tree, problem.A, u, tree.outwards)
    return problem.a0 + vertcat(*[y[i] for i in tree.outwards])


def proximal(W: Rooted, missing: SX, mu: SX, lam0: SX, accelerations: Callable[[SX], SX]) -> Iteration:
    """The proximal dual iteration (W + 1/mu) lam+ = missing + lam / mu, one factorisation for all steps."""
    solve = W.solver(diagonal(1 / mu, W.L.size1()))

    def step(lam: SX) -> tuple[SX]:
        return (solve(missing + lam / mu),)

    return Iteration(step(lam0), step, lambda lam: missing - W @ lam, lambda lam: (accelerations(lam), lam))
