"""What the passes share: a list of new values under construction, and the map from old values to new."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

from codegen.ir.graph import NEW, Graph, Value
from codegen.ir.operations import CONST, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

_COMMUTING = frozenset(name for name, op in OPERATIONS.items() if op.commutes)


def renumbered(value: Value, moved: Sequence[int]) -> Value:
    """The value with its arguments where they have moved to."""
    args = value[1]
    if len(args) == 2:
        a, b = args
        new: tuple[int, ...] = (moved[a], moved[b])
    else:
        new = tuple([moved[arg] for arg in args])
    return value if new == args else NEW(Value, (value[0], new, *value[2:]))


class Draft:
    """New values in order, and how often each is used: by other new values, and by old ones still to come.

    New values take the present `label`. Without `counting` nobody knows of uses, which is faster.
    """

    def __init__(self, graph: Graph, *, counting: bool = True) -> None:
        self.graph, self.counting = graph, counting
        self.values: list[Value] = []
        self.uses: list[int] = []
        self.moved: list[int] = []
        self.seen: dict[Any, int] = {}
        self.label = 0
        self.labels: list[int] = []

    def put(self, value: Value) -> int:
        """Append a value (its arguments are new) and say where it is."""
        self.values.append(value)
        self.labels.append(self.label)
        if self.counting:
            uses = self.uses
            for arg in value[1]:
                uses[arg] += 1
            uses.append(0)
        return len(self.values) - 1

    def op(self, name: str, *args: int) -> int:
        """Append an operation on new values."""
        return self.put(Value(name, args))

    def const(self, number: float) -> int:
        """Append a constant."""
        return self.put(Value(CONST, constant=number))

    def same(self, name: str, *args: int) -> int:
        """Where this operation on new values is, made if it is not there; what commutes is looked for both ways."""
        if name in _COMMUTING and args[0] > args[1]:
            args = (args[1], args[0])
        key = (name, args)
        place = self.seen.get(key)
        return self._new(key) if place is None else place

    def _new(self, key: tuple[str, tuple[int, ...]]) -> int:
        """Append an operation that is not there yet."""
        place = self.seen[key] = self.put(NEW(Value, (*key, 0.0, -1, -1)))
        return place

    def leaf(self, value: Value) -> int:
        """Where this constant or input is, put there if need be; 0.0 and -0.0, which compare equal, differ."""
        key = value if value.op != CONST else value.constant or repr(value.constant)
        place = self.seen.get(key)
        if place is None:
            place = self.seen[key] = self.put(value)
        return place

    def number(self, number: float) -> int:
        """Where this constant is, put there if need be."""
        place = self.seen.get(number or repr(number))
        return self.leaf(Value(CONST, (), number)) if place is None else place

    def opposite(self, name: str, a: int, b: int) -> int | None:
        """Where the negative of this difference or product is, if the operation itself is not there."""
        seen = self.seen
        if name == "sub":
            there = seen.get(("sub", (b, a)))
            return None if there is None or ("sub", (a, b)) in seen else there
        for x, y in ((a, b), (b, a)):
            factor = self.values[x]
            negative = seen.get(-factor.constant or repr(-factor.constant)) if factor.op == CONST else None
            if negative is not None and ("mul", (a, b) if a < b else (b, a)) not in seen:
                return seen.get(("mul", (negative, y) if negative < y else (y, negative)))
        return None

    def copy(self, value: Value) -> int:
        """Append an old value with its arguments moved."""
        return self.put(renumbered(value, self.moved))

    def args(self, value: Value) -> tuple[int, ...]:
        """Where an old value's arguments are now."""
        moved = self.moved
        return tuple([moved[arg] for arg in value.args])

    def finish(self) -> Graph:
        """The new graph, or the old one if nothing is new; every old value must have been moved by now."""
        graph, moved = self.graph, self.moved
        if len(self.values) == len(graph.values) and moved == list(range(len(moved))):
            return graph if tuple(self.values) == graph.values else self._with(graph.results)
        results = tuple(tuple([moved[index] for index in result]) for result in graph.results)
        return self._with(results)

    def _with(self, results: tuple[tuple[int, ...], ...]) -> Graph:
        graph = self.graph
        labels = tuple(self.labels) if graph.labels else ()
        return Graph(graph.name, graph.inputs, graph.outputs, tuple(self.values), results, labels)


def rewrite(graph: Graph, rule: Callable[[Draft, Value], int]) -> Graph:
    """Visit the values in order; `rule` says where the draft holds what an old value computes.

    While a rule looks at a value, an argument with no uses left is wanted by this value alone.
    """
    draft = Draft(graph)
    moved, pending, labels = draft.moved, draft.uses, graph.labels or repeat(0)
    for value, uses, draft.label in zip(graph.values, graph.uses(), labels, strict=False):
        for arg in value.args:
            pending[moved[arg]] -= 1
        place = rule(draft, value)
        pending[place] += uses
        moved.append(place)
    return draft.finish()


def rewrite_at(graph: Graph, places: Collection[int], rule: Callable[[Draft, Value], int]) -> Graph:
    """The same where `rule` is asked at some places alone and does not look at uses."""
    draft, old, labels = Draft(graph, counting=False), graph.values, graph.labels or (0,) * len(graph.values)
    values, moved = draft.values, draft.moved
    begin = 0
    for place in (*sorted(places), len(old)):
        moved += range(len(values), len(values) + place - begin)
        values += [renumbered(value, moved) for value in old[begin:place]] if begin else old[:place]
        draft.labels += labels[begin:place]
        if place < len(old):
            draft.label = labels[place]
            moved.append(rule(draft, old[place]))
        begin = place + 1
    return draft.finish()


def sorted_anew(graph: Graph, values: Sequence[Value]) -> Graph:
    """The graph with these values, which may use later ones, in an order in which none does; equal operations once.

    Those beyond the graph's own take the label of the value for which they are made.
    """
    draft = Draft(graph, counting=False)
    moved, labels = draft.moved, graph.labels
    moved += [-1] * len(values)
    for start in range(len(values)):
        waiting = [start]
        while waiting:
            index = waiting[-1]
            value = values[index]
            later = [arg for arg in value[1] if moved[arg] < 0]
            if later:
                waiting += later
                continue
            waiting.pop()
            if moved[index] < 0:
                if labels:
                    draft.label = labels[index if index < len(labels) else start]
                moved[index] = draft.same(value[0], *[moved[arg] for arg in value[1]]) if value[1] else draft.put(value)
    results = tuple(tuple([moved[index] for index in result]) for result in graph.results)
    return Graph(
        graph.name, graph.inputs, graph.outputs, tuple(draft.values), results, tuple(draft.labels) if labels else ()
    )
