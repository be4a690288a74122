"""Divisions by reciprocals: several divisions by one number become one reciprocal and multiplications.

The only pass that rounds differently: x * (1/d) may differ from x / d in the last place. A division by a
constant becomes a multiplication in the same way, and a reciprocal that one product alone uses a division.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from codegen.ir.operations import CONST
from codegen.passes.rewriting import Draft, rewrite

if TYPE_CHECKING:
    from codegen.ir.graph import Graph, Value


def share_reciprocals(graph: Graph) -> Graph:
    """One reciprocal for every divisor that two or more operations divide by."""
    divisions = Counter([v.args[-1] for v in graph.values if v.op == "div" or v.op == "inv"])
    shared = {divisor for divisor, number in divisions.items() if number >= 2}
    return rewrite(graph, _Reciprocals(shared).rule) if shared or _alone(graph) else graph


class _Reciprocals:
    """The divisors that share a reciprocal, and where those that are made already are."""

    def __init__(self, shared: set[int]) -> None:
        self.shared = shared
        self.made: dict[int, int] = {}

    def __repr__(self) -> str:
        return f"<_Reciprocals: {len(self.made)} of {len(self.shared)} made>"

    def rule(self, draft: Draft, value: Value) -> int:
        """Where the draft holds a value, divisions by shared or constant numbers as products."""
        if value.op == "mul":
            return _divided(draft, *draft.args(value)) or draft.copy(value)
        if value.op == "inv" and value.args[0] in self.shared:
            return self._once(draft, value.args[0])
        if value.op == "div":
            dividend, divisor = draft.args(value)
            number = draft.values[divisor]
            if number.op == CONST and _invertible(number.constant):
                return draft.op("mul", dividend, draft.const(1.0 / number.constant))
            if value.args[1] in self.shared:
                return draft.op("mul", dividend, self._once(draft, value.args[1]))
        return draft.copy(value)

    def _once(self, draft: Draft, divisor: int) -> int:
        """Where the reciprocal of a shared divisor is, made if it is not there."""
        if divisor not in self.made:
            self.made[divisor] = draft.op("inv", draft.moved[divisor])
        return self.made[divisor]


def _alone(graph: Graph) -> bool:
    """Whether a divisor is a constant, or a reciprocal is wanted only once: the other reasons to rewrite."""
    values = graph.values
    inverse = [index for index, value in enumerate(values) if value.op == "inv"]
    uses = graph.uses() if inverse else []
    if any(uses[index] == 1 for index in inverse):
        return True
    return any(value.op == "div" and values[value.args[1]].op == CONST for value in values)


def _divided(draft: Draft, a: int, b: int) -> int | None:
    """a * (1/d) as a/d if nothing else uses the reciprocal. (Never at place 0: a product has arguments.)"""
    for factor, other in ((b, a), (a, b)):
        if draft.values[factor].op == "inv" and draft.uses[factor] == 0:
            return draft.op("div", other, draft.values[factor].args[0])
    return None


def _invertible(number: float) -> bool:
    """Whether the reciprocal is a normal number: neither overflow nor a denormal's lost digits."""
    return sys.float_info.min <= abs(number) <= 1.0 / sys.float_info.min
