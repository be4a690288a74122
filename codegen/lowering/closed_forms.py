"""The step that closes loops by formulas, where there are any, in the place of Newton's method."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from casadi import symvar, vertcat

from codegen.kinematic_loops.closed_forms import node_forms

if TYPE_CHECKING:
    from codegen.kinematic_loops.constraints import Spanning
    from codegen.lowering.problem import Problem


def closed_forms(problem: Problem) -> Problem:
    """The step, for algorithms that find positions; where lengths are arguments, forms are not known to hold."""
    if not problem.request.needs.closes or all(loop.explicit for loop in problem.model.loops):
        return problem
    pairs = zip(problem.bodies.spanning, node_forms(problem.model), strict=True)
    return problem.found(spanning=tuple(replace(own, form=form) if _fixed(own) else own for own, form in pairs))


def _fixed(own: Spanning) -> bool:
    """Whether a node's constraints know no symbols but its coordinates."""
    return len(symvar(vertcat(own.constraints.x, own.constraints.phi.value))) == own.constraints.x.size1()
