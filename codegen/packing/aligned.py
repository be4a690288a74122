"""A graph rewritten so that the members of every pack do the same, operand for operand and sign for sign.

Where a value is kept as its negative (`codegen.packing.negatives`), sums that use it subtract instead of adding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.ir.graph import Graph, Value
from codegen.ir.operations import CONST
from codegen.packing.negatives import ODD, negatives
from codegen.packing.sums import JOIN, SUM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.packing.matching import Matched, Pack
    from codegen.packing.sums import Node

    Signed = tuple[int, bool]
    """A new value, and whether its negative is meant."""


class CircleError(Exception):
    """Packs depend on each other in a circle."""


def aligned(graph: Graph, matched: Matched) -> tuple[Graph, tuple[Pack, ...]]:
    """The new graph and its packs, of which a sum of n terms makes n - 1; CircleError if that cannot be."""
    builder = _Builder(graph, matched)
    for unit in _order(matched):
        if unit[0] in matched.pack:
            builder.put_pack(unit)
        else:
            builder.put(unit[0])
    results = tuple(tuple([builder.true(index) for index in result]) for result in graph.results)
    made = Graph(graph.name, graph.inputs, graph.outputs, tuple(builder.values), results)
    return made, tuple(builder.packs)


def _order(matched: Matched) -> list[Pack]:
    """All nodes, packs together, each after what it needs."""
    nodes, done, opened = matched.sums.nodes, set[int](), set[int]()
    order: list[Pack] = []
    for start in nodes:
        waiting = [start]
        while waiting:
            index = waiting[-1]
            unit = matched.pack.get(index, (index,))
            needed = [arg for member in unit for arg in nodes[member].args if arg not in done]
            if index in done or not needed:
                waiting.pop()
                if index not in done:
                    done.update(unit)
                    order.append(unit)
            elif unit[0] in opened:
                raise CircleError
            else:
                opened.add(unit[0])
                waiting += needed
    return order


class _Builder:
    """The new values; `made` says where a node is, `negative` whether its negative is there."""

    def __init__(self, graph: Graph, matched: Matched) -> None:
        self.graph, self.matched, self.sums = graph, matched, matched.sums
        self.negative = negatives(matched, self._outside())
        self.values: list[Value] = []
        self.packs: list[Pack] = []
        self.made: dict[int, int] = {}
        self.negated: dict[int, int] = {}
        self.constants: dict[str, int] = {}

    def _outside(self) -> set[int]:
        """What results and nodes in no pack use."""
        used = {self.sums.signed[index][0] for result in self.graph.results for index in result}
        for index, node in self.sums.nodes.items():
            if index not in self.matched.pack:
                used.update(node.args)
        return used

    def put(self, index: int) -> None:
        """A node by itself, as it was."""
        node, old = self.sums.nodes[index], self.graph.values[index]
        if not node.args:
            self.made[index] = self._constant(old.constant) if node.op == CONST else self._add(old)
            return
        terms = [self._signed(arg, minus) for arg, minus in zip(node.args, node.minus, strict=True)]
        if node.op == SUM:
            self.made[index], minus = self._sum(node.order, terms)
        else:
            minus = node.op in ODD and sum(turned for _, turned in terms) % 2 == 1
            bare = node.op in ODD or node.op in ("sq", "cos")
            args = [place if bare or not turned else self._negated(place) for place, turned in terms]
            self.made[index] = self._add(Value(node.op, tuple(args)))
        if minus:
            self.negative.add(index)

    def _sum(self, order: Sequence[int], terms: Sequence[Signed]) -> Signed:
        """A sum of terms."""
        parts: list[Signed] = []
        for place in order:
            if place != JOIN:
                parts.append(terms[place])
                continue
            (second, turned), (first, minus) = parts.pop(), parts.pop()
            if minus == turned:
                parts.append((self._add(Value("add", (first, second))), minus))
            else:
                parts.append((self._add(Value("sub", (second, first) if minus else (first, second))), False))
        return parts.pop()

    def put_pack(self, pack: Pack) -> None:
        """All members of a pack."""
        nodes = [self.matched.terms[index] for index in pack]
        operands = [
            [self._at(arg, minus) for arg, minus in zip(node.args, self._turned(nodes[0], node, index), strict=True)]
            for index, node in zip(pack, nodes, strict=True)
        ]
        if nodes[0].op == SUM:
            made = self._pack_sum(nodes[0].order, nodes[0].minus, operands)
        else:
            made = self._pack(nodes[0].op, operands)
        self.made |= dict(zip(pack, made, strict=True))

    def _turned(self, first: Node, node: Node, index: int) -> list[bool]:
        """For each operand of a pack's member, whether its negative has to stand there."""
        negative = index in self.negative
        if node.op == SUM:
            return [(a != b) != negative for a, b in zip(first.minus, node.minus, strict=True)]
        own = [arg in self.negative for arg in node.args]
        if node.op in ODD and (sum(own) % 2 == 1) != negative:
            constant = [k for k, arg in enumerate(node.args) if self.sums.nodes[arg].op == CONST]
            place = constant[0] if constant else len(own) - 1
            own[place] = not own[place]
        return own

    def _pack_sum(self, order: Sequence[int], minus: Sequence[bool], operands: list[list[int]]) -> Pack:
        """The sums of all members; some term is added."""
        parts: list[tuple[Pack, bool]] = []
        for place in order:
            if place != JOIN:
                parts.append((tuple([places[place] for places in operands]), minus[place]))
                continue
            (second, turned), (first, negative) = parts.pop(), parts.pop()
            both = zip(second, first, strict=True) if negative and not turned else zip(first, second, strict=True)
            parts.append((self._pack("add" if negative == turned else "sub", list(both)), negative and turned))
        return parts.pop()[0]

    def _pack(self, op: str, operands: Sequence[Sequence[int]]) -> Pack:
        self.packs.append(tuple([self._add(Value(op, tuple(places))) for places in operands]))
        return self.packs[-1]

    def true(self, index: int) -> int:
        """The new value of an old one."""
        return self._at(*self.sums.signed[index])

    def _at(self, index: int, minus: bool) -> int:
        """The new value of a node or of its negative."""
        place, turned = self._signed(index, minus)
        return self._negated(place) if turned else place

    def _signed(self, index: int, minus: bool) -> Signed:
        if self.sums.nodes[index].op == CONST:
            number = self.graph.values[index].constant
            return self._constant(-number if minus else number), False
        return self.made[index], minus != (index in self.negative)

    def _negated(self, place: int) -> int:
        if place not in self.negated:
            self.negated[place] = self._add(Value("neg", (place,)))
        return self.negated[place]

    def _constant(self, number: float) -> int:
        if repr(number) not in self.constants:
            self.constants[repr(number)] = self._add(Value(CONST, constant=number))
        return self.constants[repr(number)]

    def _add(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1
