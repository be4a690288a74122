"""Results that solve an equation, for their derivatives by the implicit function theorem.

A solution x of f(arguments, x) = 0 moves by dx = -(df/dx)^-1 df, and its adjoint is that of f, at -(df/dx)^-T xbar:
neither goes through the factorisation (Giles, An extended collection of matrix derivative results, 2008). Of forward
dynamics f is inverse dynamics less tau, its derivative by the acceleration is M, and M^-1 is forward dynamics again, at
rest and without gravity: all that depends on the configuration alone is the same expression, and is computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from casadi import SX

from codegen.algorithms.aba import aba
from codegen.algorithms.ltl import ltl
from codegen.algorithms.rnea import rnea
from codegen.recursions.tree import Tree
from codegen.spatial import zeros


@dataclass(frozen=True, slots=True)
class Equation:
    """`residual(tree, *arguments, x)` vanishes at the solution x; `solve(tree, b)` is (df/dx)^-1 b, and symmetric."""

    residual: Callable[..., SX]
    solve: Callable[[Tree, SX], SX]


def forward_dynamics(run: Callable[..., Any]) -> Equation:
    """The equation of an algorithm that takes the arguments of `aba` and gives the same."""

    def residual(tree: Tree, v: SX, tau: SX, f_ext: SX, a: SX) -> SX:
        return rnea(tree, v, a, f_ext) - tau

    def solve(tree: Tree, force: SX) -> SX:
        still = replace(tree, gravity=zeros(3), external=())
        return SX(run(still, zeros(tree.nv), force, zeros(0, 6)))

    return Equation(residual, solve)


EQUATIONS: dict[str, Equation] = {
    "aba": forward_dynamics(aba),
    "ltl": forward_dynamics(ltl),
    "approximate_aba": forward_dynamics(aba),
}
"""By algorithms."""
