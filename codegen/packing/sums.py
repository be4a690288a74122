"""A graph as sums and products: what the values of two limbs have in common however their signs are spread.

Inner values of sums disappear in the sum, negations in whoever uses them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codegen.ir.operations import CONST, INPUT
from codegen.passes.inner import SUMS, inner_sums

if TYPE_CHECKING:
    from codegen.ir.graph import Graph

SUM = "sum"
COMMUTING = frozenset((SUM, "mul"))
_SIGNED = frozenset(("mul", "div", "inv", "twice", "sin"))
_EVEN = frozenset(("sq", "cos"))

JOIN = -1
"""In the order in which a sum is added up, where its last two parts become one; the others are places of terms."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operation on other nodes, each taken with a sign; for a sum also the order in which it is added up.

    Sums take any signs; products and odd functions none, theirs are their users' business.
    """

    op: str
    args: tuple[int, ...]
    minus: tuple[bool, ...]
    order: tuple[int, ...] = ()

    def __str__(self) -> str:
        terms = (f"{'-' if minus else ''}%{arg}" for arg, minus in zip(self.args, self.minus, strict=True))
        return f"{self.op}({', '.join(terms)})"


@dataclass(frozen=True, slots=True)
class Sums:
    """The nodes by the values that they compute, in order; and every value as a node, or (True) its negative."""

    nodes: dict[int, Node]
    signed: tuple[tuple[int, bool], ...]

    def __str__(self) -> str:
        return f"{len(self.nodes)} sums and products of {len(self.signed)} values"


def sums(graph: Graph) -> Sums:
    """The nodes of a graph."""
    values, inner = graph.values, inner_sums(graph)
    nodes: dict[int, Node] = {}
    signed: list[tuple[int, bool]] = []
    for index, (op, args, *_) in enumerate(values):
        signed.append((index, False))
        if inner[index]:
            continue
        if op == "neg":
            root, minus = signed[args[0]]
            signed[index] = root, not minus
        elif op in SUMS:
            node = _sum(graph, inner, signed, index)
            signed[index] = index, all(node.minus)
            nodes[index] = replace(node, minus=(False,) * len(node.minus)) if all(node.minus) else node
        elif op in (CONST, INPUT):
            nodes[index] = Node(op, (), ())
        elif op == "mul" and (number := _two(graph, args)):
            root, minus = signed[args[graph.values[args[0]].op == CONST]]
            nodes[index] = Node("twice", (root,), (False,))
            signed[index] = index, minus != (number < 0)
        else:
            nodes[index], negative = _operation(op, [signed[arg] for arg in args])
            signed[index] = index, negative
    return Sums(nodes, tuple(signed))


def _operation(op: str, args: list[tuple[int, bool]]) -> tuple[Node, bool]:
    """An operation on nodes with signs, and whether its value is the node's negative: odd and even ones take none."""
    roots, minus = tuple([root for root, _ in args]), tuple([negative for _, negative in args])
    if op in _SIGNED:
        return Node(op, roots, (False,) * len(args)), sum(minus) % 2 == 1
    return Node(op, roots, (False,) * len(args) if op in _EVEN else minus), False


def _two(graph: Graph, args: tuple[int, ...]) -> float:
    """2 or -2 if that is a factor of a product, otherwise 0."""
    found = [graph.values[arg].constant for arg in args if graph.values[arg].op == CONST]
    return next((number for number in found if abs(number) == 2.0), 0.0)


def _sum(graph: Graph, inner: list[bool], signed: list[tuple[int, bool]], root: int) -> Node:
    """The terms of a sum from left to right."""
    args: list[int] = []
    minus: list[bool] = []
    order: list[int] = []
    waiting = [(root, False, False)]
    while waiting:
        index, turned, seen = waiting.pop()
        if seen:
            order.append(JOIN)
        elif index == root or inner[index]:
            op, (first, second), *_ = graph.values[index]
            waiting += [(index, turned, True), (second, turned != (op == "sub"), False), (first, turned, False)]
        else:
            node, negative = signed[index]
            order.append(len(args))
            args.append(node)
            minus.append(turned != negative)
    return Node(SUM, tuple(args), tuple(minus), tuple(order))
