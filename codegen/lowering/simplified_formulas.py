"""The step that closes loops with their formulas simplified and differentiated by SymPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.expressions.derivatives import derivatives
from codegen.lowering.loop_closure import closed

if TYPE_CHECKING:
    from codegen.lowering.problem import Problem


def simplified_formulas(problem: Problem) -> Problem:
    """The step."""
    return closed(problem, derivatives)
