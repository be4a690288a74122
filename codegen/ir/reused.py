"""Values that a called graph makes and another one makes again of the same: the first hands them on.

That is common subexpression elimination across calls. At every stage of a step, second derivatives of dynamics begin
with what their Jacobian began with. A value that both take is an element of what the first call makes then, and the
second takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from codegen.ir.calls import GraphCall
from codegen.ir.graph import Port, Value
from codegen.ir.operations import CONST, INPUT, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from codegen.ir.graph import Graph
    from codegen.ir.products import WithProducts

    Way = tuple[tuple[str, int] | None, ...]
    """Of everything that a call takes, which one it is of what another one takes or makes."""

Numbers = dict[tuple[object, ...], int]
"""Of an operation on numbers of values, or of an element of an input, the number that all such values have."""

TAKEN, MADE, OTHER = "taken", "made", "other"

LEAST = 1000
"""Operations from which they are handed on."""

SHARE = 4
"""So many operations for each value that is handed on, at least: that one is written, and read again."""


@dataclass(frozen=True, slots=True)
class Reuse:
    """Calls of a graph and of a later one, in pairs; `made` are values of the first that the second has at `places`.

    It saves so many operations.
    """

    pairs: tuple[tuple[GraphCall, GraphCall], ...]
    made: tuple[int, ...]
    places: dict[int, int]
    saves: int

    def __str__(self) -> str:
        first, second = self.pairs[0]
        return f"{second.graph.name} takes {len(self.made)} values of {first.graph.name}"


def reused(function: WithProducts) -> WithProducts:
    """The same function, in which each called graph takes values of one that is called before, if they are many."""
    for number in range(len(function.called)):
        found = max(_reuses(function, function.called[number]), key=lambda own: own.saves, default=None)
        function = _handed_on(function, found) if found else function
    return function


def _handed_on(function: WithProducts, found: Reuse) -> WithProducts:
    """A function in which the second graph of a reuse takes what the first one makes."""
    first, second = (own.graph for own in found.pairs[0])
    shape, values = (len(found.made),), [*second.values]
    out, taken_in = Port(f"out{len(first.outputs)}", shape), Port(f"in{len(second.inputs)}", shape)
    for place, element in found.places.items():
        values[place] = Value(INPUT, port=len(second.inputs), element=element)
    made = replace(first, outputs=(*first.outputs, out), results=(*first.results, found.made))
    taken = replace(second, inputs=(*second.inputs, taken_in), values=tuple(values))
    givers = {id(later): giver for giver, later in found.pairs}

    def name(call: GraphCall) -> str:
        return f"{call.ports[0].name}_{len(call.ports)}"

    def now(own: GraphCall) -> GraphCall:
        if own.graph is first:
            return replace(own, graph=made, ports=(*own.ports, replace(out, name=name(own))))
        return replace(own, graph=taken, takes=(*own.takes, name(givers[id(own)])))

    products = (
        now(own) if isinstance(own, GraphCall) and (own.graph is first or own.graph is second) else own
        for own in function.products
    )
    return replace(function, products=tuple(products))


def _reuses(function: WithProducts, graph: Graph) -> Iterator[Reuse]:
    """All that are worth it in a graph."""
    calls = [own for own in function.steps if isinstance(own, GraphCall)]
    later = [(k, own) for k, own in enumerate(calls) if own.graph is graph]
    copied = _copies(calls)
    for other in function.called:
        if other is not graph and min(len(other.values), len(graph.values)) >= LEAST:
            ways = [{_way(one, own, copied): one for one in calls[:k] if one.graph is other} for k, own in later]
            for way in ways[0]:
                if any(way) and all(way in others for others in ways):
                    pairs = [(of_way[way], call) for of_way, (_, call) in zip(ways, later, strict=True)]
                    yield from filter(_pays, [_reuse(pairs, way)])


def _copies(calls: Sequence[GraphCall]) -> dict[str, str]:
    """The names of ports that calls make by copying others, and the names of these."""
    found = dict[str, str]()
    for own in calls:
        for port, result in zip(own.ports, own.graph.results, strict=True):
            values = [own.graph.values[index] for index in result]
            source = values[0].port if values else -1
            whole = [Value(INPUT, port=source, element=k) for k in range(len(values))]
            if values == whole and own.graph.inputs[source].size == len(whole) > 0:
                found[port.name] = found.get(own.takes[source], own.takes[source])
    return found


def _way(one: GraphCall, other: GraphCall, copied: Mapping[str, str]) -> Way:
    """What a later call takes, by what an earlier one does."""
    known = {copied.get(name, name): (TAKEN, k) for k, name in enumerate(one.takes)}
    known |= {port.name: (MADE, k) for k, port in enumerate(one.ports)}
    return tuple(known.get(copied.get(name, name)) for name in other.takes)


def _pays(own: Reuse) -> bool:
    """Whether it is worth it."""
    return own.saves >= LEAST and own.saves >= SHARE * len(own.made)


def _reuse(pairs: Sequence[tuple[GraphCall, GraphCall]], way: Way) -> Reuse:
    """What the graph of the second calls has of that of the first."""
    (first, second), known = (own.graph for own in pairs[0]), Numbers()

    def given(value: Value) -> int:
        kind, place = way[value.port] or (OTHER, value.port)
        if kind == MADE:
            return own[first.results[place][value.element]]
        return known.setdefault((kind, place, value.element), len(known))

    own = list[int]()
    own += _numbered(first, known, lambda value: known.setdefault((TAKEN, value.port, value.element), len(known)))
    theirs = [*_numbered(second, known, given)]
    computed = [value.op not in (CONST, INPUT) for value in second.values]
    made = {number: k for k, number in reversed([*enumerate(own)]) if first.values[k].op not in (CONST, INPUT)}
    left = _left(second, [number in made for number in theirs])
    there = {number for k, number in enumerate(theirs) if not computed[k]}
    handed = {number for k, number in enumerate(theirs) if left[k] and number in made} - there
    elements = {number: n for n, number in enumerate(sorted(handed, key=made.__getitem__))}
    again = {number for k, number in enumerate(theirs) if left[k] and computed[k]} - {*elements}
    places = {k: elements[number] for k, number in enumerate(theirs) if number in elements}
    alive = second.needed_by(chain.from_iterable(second.results))
    whole = {number for k, number in enumerate(theirs) if computed[k] and alive[k]}
    return Reuse(tuple(pairs), tuple(made[number] for number in elements), places, len(whole) - len(again))


def _numbered(graph: Graph, known: Numbers, given: Callable[[Value], int]) -> Iterator[int]:
    """For each value of a graph its number, the same for all that are computed alike."""
    found = list[int]()
    for value in graph.values:
        args = [found[arg] for arg in value.args]
        if value.op == INPUT:
            number = given(value)
        elif value.op == CONST:
            number = known.setdefault((CONST, repr(value.constant)), len(known))
        else:
            order = sorted(args) if OPERATIONS[value.op].commutes else args
            number = known.setdefault((value.op, *order), len(known))
        found.append(number)
        yield number


def _left(graph: Graph, known: Sequence[bool]) -> list[bool]:
    """What is needed of a graph where some values are known: these, too, if others or results take them."""
    needed = [False] * len(graph.values)
    for index in chain.from_iterable(graph.results):
        needed[index] = True
    for index in range(len(needed) - 1, -1, -1):
        if needed[index] and not known[index]:
            for arg in graph.values[index].args:
                needed[arg] = True
    return needed
