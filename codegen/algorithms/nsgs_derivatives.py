"""Derivatives of contacts that break, stick and slip, as each does at the solution.

Where forces obey Coulomb's law, each point by one of its branches, changes of forces and motions obey a linear equation
(`codegen.recursions.friction`). It takes the place of J da = dc among the equations of
`codegen.algorithms.constrained_derivatives`, and what makes dlam of dc that of W^-1: it is not symmetric, as a sliding
point is pushed against its motion (Le Lidec, Montaut, de Mont-Marin, Schramm, Carpentier, End-to-end and
highly-efficient differentiable simulation for robotics, 2024). Gravity enters as upward acceleration of the world.
"""

from __future__ import annotations

from typing import Any

from casadi import SX

from codegen.algorithms.constrained_derivatives import linearised
from codegen.algorithms.nsgs import stepping
from codegen.recursions.composition import Parts
from codegen.recursions.dual import Dual, Solver
from codegen.recursions.friction import Friction
from codegen.recursions.products import Result
from codegen.recursions.tree import Tree

STEPS = 3  # of the iteration, as many as `nsgs` takes


def nsgs_derivatives(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, lam0: SX, **how: Any) -> tuple[Result, ...]:
    """da/dq, da/dv, da/dtau (nv x nv), dlam/dq, dlam/dv, dlam/dtau (m x nv), then by symbols, as `linearised` says."""
    return linearised(tree, (v, tau, f_ext, k), frictional(tree, lam0), **how)[1:]


def nsgs_linearised(tree: Tree, v: SX, tau: SX, f_ext: SX, k: SX, lam0: SX, **how: Any) -> tuple[Result, ...]:
    """a, da/dq, da/dv and da/dtau."""
    return linearised(tree, (v, tau, f_ext, k), frictional(tree, lam0), **how)[:4]


def frictional(tree: Tree, lam0: SX) -> Solver:
    """Forces by Coulomb's law, from lam0 (m), and how they change."""

    def solver(W: Result, parts: Parts) -> Dual:
        law = Friction(tree.contacts, parts.numbers(W))

        def solve(lack: SX) -> SX:
            lam, step = lam0, stepping(law, -lack, parts)
            for _ in range(STEPS):
                (lam,) = step(lam)
            return lam

        return Dual(solve, lambda lack, lam: law.changes(-lack, lam, parts), symmetric=False)

    return solver
