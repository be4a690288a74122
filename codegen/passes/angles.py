"""Sine and cosine of one angle stand next to each other, so that a compiler can take them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.passes.rewriting import Draft, rewrite

if TYPE_CHECKING:
    from codegen.graph import Graph, Value


def pair_angles(graph: Graph) -> Graph:
    """Right after the first of sin(x) and cos(x) comes the other, if it is wanted at all."""
    wanted = {(value.op, value.args[0]) for value in graph.values if value.op in ("sin", "cos")}
    made: dict[tuple[str, int], int] = {}

    def rule(draft: Draft, value: Value) -> int:
        if value.op not in ("sin", "cos"):
            return draft.copy(value)
        angle = value.args[0]
        for op in (value.op, "cos" if value.op == "sin" else "sin"):
            if (op, angle) in wanted and (op, angle) not in made:
                made[op, angle] = draft.op(op, *draft.args(value))
        return made[value.op, angle]

    return rewrite(graph, rule) if wanted else graph
