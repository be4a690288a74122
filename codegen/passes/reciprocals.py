"""Several divisions by one number become one reciprocal and multiplications.

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
    reciprocal: dict[int, int] = {}

    def once(draft: Draft, divisor: int) -> int:
        if divisor not in reciprocal:
            reciprocal[divisor] = draft.op("inv", draft.moved[divisor])
        return reciprocal[divisor]

    def rule(draft: Draft, value: Value) -> int:
        if value.op == "mul":
            return _divided(draft, *draft.args(value)) or draft.copy(value)
        if value.op == "inv" and value.args[0] in shared:
            return once(draft, value.args[0])
        if value.op == "div":
            dividend, divisor = draft.args(value)
            number = draft.values[divisor]
            if number.op == CONST and _invertible(number.constant):
                return draft.op("mul", dividend, draft.const(1.0 / number.constant))
            if value.args[1] in shared:
                return draft.op("mul", dividend, once(draft, value.args[1]))
        return draft.copy(value)

    return rewrite(graph, rule) if shared or _alone(graph) else graph


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
