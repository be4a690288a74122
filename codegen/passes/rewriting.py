"""What the passes share: a list of new values under construction, and the map from old values to new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.graph import Graph, Value
from codegen.operations import CONST

if TYPE_CHECKING:
    from collections.abc import Callable


class Draft:
    """New values in order, and how often each is used: by other new values, and by old ones still to come."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.values: list[Value] = []
        self.uses: list[int] = []
        self.moved: list[int] = []

    def put(self, value: Value) -> int:
        """Append a value (its arguments are new) and say where it is."""
        for arg in value.args:
            self.uses[arg] += 1
        self.values.append(value)
        self.uses.append(0)
        return len(self.values) - 1

    def op(self, name: str, *args: int) -> int:
        """Append an operation on new values."""
        return self.put(Value(name, args))

    def const(self, number: float) -> int:
        """Append a constant."""
        return self.put(Value(CONST, constant=number))

    def copy(self, value: Value) -> int:
        """Append an old value with its arguments moved."""
        moved = self.moved
        args = tuple([moved[arg] for arg in value.args])
        if args != value.args:
            value = Value(value.op, args, value.constant, value.port, value.element)
        return self.put(value)

    def args(self, value: Value) -> tuple[int, ...]:
        """Where an old value's arguments are now."""
        moved = self.moved
        return tuple([moved[arg] for arg in value.args])

    def finish(self) -> Graph:
        """The new graph; every old value must have been moved by now."""
        graph, moved = self.graph, self.moved
        results = tuple(tuple([moved[index] for index in result]) for result in graph.results)
        return Graph(graph.name, graph.inputs, graph.outputs, tuple(self.values), results)


def rewrite(graph: Graph, rule: Callable[[Draft, Value], int]) -> Graph:
    """Visit the values in order; `rule` says where the draft holds what an old value computes.

    While a rule looks at a value, an argument with no uses left is wanted by this value alone.
    """
    draft = Draft(graph)
    moved, pending = draft.moved, draft.uses
    for value, uses in zip(graph.values, graph.uses(), strict=True):
        for arg in value.args:
            pending[moved[arg]] -= 1
        place = rule(draft, value)
        pending[place] += uses
        moved.append(place)
    return draft.finish()
