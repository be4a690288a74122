"""Which values are written within the statement of the one value that uses them, not in statements of their own.

Sources become shorter and read like formulas; compilers see the same operations in the same order. A value goes into
its user's statement if that is its only use and if nothing stands between the two but what goes there, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from codegen.emission.layout import Layout
    from codegen.ir.graph import Graph

LEVELS = {"add": 1, "sub": 1, "mul": 2, "twice": 2, "div": 2, "inv": 2}
"""How strongly operators bind that values in others' statements may be of; `twice` and `inv` have one operand."""

LONGEST = 96
"""Characters of an expression, beyond which its operands are statements of their own."""


def nested(graph: Graph, plan: Layout, stored: Mapping[int, Collection[int]]) -> frozenset[int]:
    """The units that go into their users' statements, by their first values; `stored` are results by units."""
    values, uses, found = graph.values, graph.uses(), set[int]()
    kept = {*plan.slots, *plan.at_home, *plan.copied, *(index for index, results in stored.items() if results)}

    def of(unit: int, user: int) -> bool:
        """Whether a unit is an operand of another one's statement."""
        if values[user].op not in LEVELS:
            return False
        own, users = plan.unit[unit], plan.unit[user]
        if len(own) == len(users) == 1:
            return unit in values[user].args
        return own in zip(*[values[index].args for index in users], strict=True)

    for units in plan.parts:
        waiting: list[int] = []  # what might go into the next statement, in order
        for unit in units:
            while waiting and of(waiting[-1], unit):
                found.add(waiting.pop())
            alone = values[unit].op in LEVELS and unit not in kept and all(uses[k] == 1 for k in plan.unit[unit])
            waiting = [*waiting, unit] if alone else []
    return frozenset(found)


def within(op: str, text: str, own: str, place: int) -> str:
    """An expression of operator `own` as the operand at this place of another one, in parentheses if it takes them."""
    binds = LEVELS[own] > LEVELS[op] or (LEVELS[own] == LEVELS[op] and place == 0 and op not in ("twice", "inv"))
    return text if binds else f"({text})"
