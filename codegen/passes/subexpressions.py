"""The same value is computed once.

Arguments of commuting operations are ordered first. b - a is the negative of a - b, and a product with -c
that of the product with c: a negation replaces the second one, and often vanishes into the sum that uses it.
`fold_constants` shares in the same way while it simplifies; this is the idea by itself.
"""

from __future__ import annotations

from codegen.graph import Graph, Value
from codegen.passes.rewriting import Draft, rewrite


def share_subexpressions(graph: Graph) -> Graph:
    """Hash-consing in one sweep."""

    def rule(draft: Draft, value: Value) -> int:
        if not value.args:
            return draft.leaf(value)
        name, args = value.op, draft.args(value)
        if name == "sub" or name == "mul":
            opposite = draft.opposite(name, *args)
            if opposite is not None:
                return draft.same("neg", opposite)
        return draft.same(name, *args)

    return rewrite(graph, rule, counting=False)
