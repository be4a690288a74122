"""The same value is computed once.

Arguments of commuting operations are ordered first. b - a is the negative of a - b, and a product with -c
that of the product with c: a negation replaces the second one, and often vanishes into the sum that uses it.
"""

from __future__ import annotations

from typing import Any

from codegen.graph import Graph, Value
from codegen.operations import CONST, INPUT, OPERATIONS
from codegen.passes.rewriting import Draft, rewrite

_COMMUTING = frozenset(name for name, op in OPERATIONS.items() if op.commutes)


def share_subexpressions(graph: Graph) -> Graph:
    """Hash-consing in one sweep."""
    seen: dict[Any, int] = {}

    def once(draft: Draft, name: str, args: tuple[int, ...]) -> int:
        key = (name, args)
        if key not in seen:
            seen[key] = draft.put(Value(name, args))
        return seen[key]

    def rule(draft: Draft, value: Value) -> int:
        name = value.op
        if name in (CONST, INPUT):
            # repr tells -0.0 from 0.0, which compare equal.
            leaf = (name, repr(value.constant), value.port, value.element)
            if leaf not in seen:
                seen[leaf] = draft.put(value)
            return seen[leaf]
        args = draft.args(value)
        if name in _COMMUTING and args[0] > args[1]:
            args = (args[1], args[0])
        if (name, args) not in seen:
            opposite = _opposite(draft, seen, name, args)
            if opposite is not None:
                return once(draft, "neg", (opposite,))
        return once(draft, name, args)

    return rewrite(graph, rule)


def _opposite(draft: Draft, seen: dict[Any, int], name: str, args: tuple[int, ...]) -> int | None:
    """Where the negative of this operation's value already is."""
    if name == "sub":
        return seen.get(("sub", (args[1], args[0])))
    if name == "mul":
        for k in (0, 1):
            value = draft.values[args[k]]
            if value.op == CONST:
                negative = seen.get((CONST, repr(-value.constant), -1, -1))
                if negative is not None:
                    pair = sorted((negative, args[1 - k]))
                    return seen.get(("mul", tuple(pair)))
    return None
