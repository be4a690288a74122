"""Multiply-add chains: a processor does x + a*b in one instruction, but (a*b + c*d) + x in three.

A sum is a tree of additions and subtractions whose inner values nobody else uses. Its terms are added up one by one,
beginning with what is no product, then what is known early; where the sum would be known later than it was, it stays a
tree. There are as many additions as before, or fewer where chains happen to begin alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codegen.ir.graph import Value
from codegen.passes.inner import SUMS, inner_sums
from codegen.passes.rewriting import sorted_anew

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Graph

_PRODUCTS = ("mul", "sq")


class Term(NamedTuple):
    """One term of a sum: its value, whether it is subtracted, and whether it is a product for this sum alone."""

    place: int
    minus: bool
    product: bool


def chain_sums(graph: Graph) -> Graph:
    """The graph with sums as chains; a sum's inner values take its new ones, in order."""
    values, uses, inner = graph.values, graph.uses(), inner_sums(graph)
    made, depth = list(values), list[int]()
    for index, value in enumerate(values):
        depth.append(_depth(values, uses, depth, value))
        if value.op in SUMS and not inner[index] and any(inner[arg] for arg in value.args):
            nodes, terms = _terms(values, uses, inner, index)
            chain, late = _chain(terms, depth, nodes)
            if late <= depth[index]:
                depth[index] = late
                for node, link in zip(nodes, chain, strict=True):
                    made[node] = link
    return sorted_anew(graph, made)


def _depth(values: Sequence[Value], uses: Sequence[int], depth: Sequence[int], value: Value) -> int:
    """How many operations a value waits for, a product and the addition to it being one."""
    args = value.args
    if len(args) < 2:
        return 1 + depth[args[0]] if args else 0
    late = max(depth[args[0]], depth[args[1]])
    if value.op in SUMS:
        for arg in args:
            if depth[arg] == late and uses[arg] == 1 and values[arg].op in _PRODUCTS:
                return max(late, 1 + min(depth[args[0]], depth[args[1]]))
    return 1 + late


def _terms(
    values: Sequence[Value], uses: Sequence[int], inner: Sequence[bool], root: int
) -> tuple[list[int], list[Term]]:
    """The additions of a sum, the root last, and its terms."""
    nodes, terms, waiting = [], [], [(root, False)]
    while waiting:
        node, minus = waiting.pop()
        nodes.append(node)
        for arg, turned in zip(values[node].args, (minus, minus != (values[node].op == "sub")), strict=True):
            if inner[arg]:
                waiting.append((arg, turned))
            else:
                terms.append(Term(arg, turned, values[arg].op in _PRODUCTS and uses[arg] == 1))
    return sorted(nodes), terms


def _chain(terms: Sequence[Term], depth: Sequence[int], nodes: Sequence[int]) -> tuple[list[Value], int]:
    """The additions, each on the one before it, and how many operations the last waits for."""
    ready = {term: depth[term.place] - term.product for term in terms}
    left = sorted(terms, key=lambda term: (term.product, ready[term]))
    first = next(term for term in left if not term.minus)
    left.remove(first)
    links, at, late = [], first.place, depth[first.place]
    for term, node in zip(left, nodes, strict=True):
        links.append(Value("sub" if term.minus else "add", (at, term.place)))
        at, late = node, 1 + max(late, ready[term])
    return links, late
