"""Results of a function column by column: matrices turned where that takes no more operations.

A product of a symmetric matrix and another one is turned by turning the other one, and so is one whose left factor is
taken as its transpose: (S R)' = R' S and (L' R)' = R' L. What the graph makes is stored in another order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ir.graph import Graph, Port, verify
from codegen.ir.products import MaskedMatrixProduct, MatrixProduct, Term, WithProducts, made_by, names_taken

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from codegen.ir.products import AnyProduct


def turned(graph: Graph, wanted: Collection[str], name: str) -> Graph:
    """The graph, by another name, with the `wanted` matrices column by column."""
    return replace(_stored(graph, wanted), name=name)


def turned_products(function: WithProducts, wanted: Collection[str], name: str) -> WithProducts:
    """The same of a function with products, of those matrices that can be turned."""
    changes = dict[str, MatrixProduct | None]()
    for result in wanted:
        changes |= _changes(function, result) or {}
    graph = _stored(function.graph, [key for key, product in changes.items() if product is None])
    outputs = tuple(_port(port) if port.name in changes else port for port in function.outputs)
    products = tuple(_changed(own, changes) for own in function.products)
    return replace(function, graph=replace(graph, name=name), products=products, outputs=outputs)


def _changed(own: AnyProduct, changes: Mapping[str, MatrixProduct | None]) -> AnyProduct:
    """A product, or the one in its place."""
    return changes.get(own.port.name) or own if isinstance(own, MatrixProduct) else own


def _changes(function: WithProducts, wanted: str) -> dict[str, MatrixProduct | None] | None:
    """By name what is turned for a result, and the products in the place of those that make it; None if it cannot be.

    What something else takes stays as it is.
    """
    made = {port.name: own for own in function.products for port in made_by(own)}
    taken = Counter(name for own in function.steps for name in names_taken(own))
    taken.update(gather.source for gather in function.gathers)
    stored = {port.name for port in function.graph.outputs}
    outputs = {port.name for port in function.outputs}

    def of(name: str) -> dict[str, MatrixProduct | None] | None:
        if taken[name] + (name in outputs) > 1:
            return None
        own = made.get(name)
        if own is None:
            return {name: None} if name in stored else None
        if not isinstance(own, MatrixProduct) or own.symmetric:
            return None
        if not all(term.transposed or _symmetric(made.get(term.left)) for term in own.terms):
            return None
        rest = of(own.plus) if own.plus else {}
        terms = [Term(term.right, term.left, transposed=True) for term in own.terms]
        product = replace(own, port=_port(own.port)).of(own.plus, terms)
        return None if rest is None else {name: product, **rest}

    return of(wanted)


def _symmetric(own: AnyProduct | None) -> bool:
    return isinstance(own, MatrixProduct | MaskedMatrixProduct) and own.symmetric


def _port(port: Port) -> Port:
    return replace(port, shape=port.shape[::-1], about=f"{port.about}, column by column")


def _stored(graph: Graph, wanted: Collection[str]) -> Graph:
    """The graph with these results column by column."""
    ports, results = list[Port](), list[tuple[int, ...]]()
    for port, result in zip(graph.outputs, graph.results, strict=True):
        turns = port.name in wanted
        ports.append(_port(port) if turns else port)
        columns = port.shape[-1] if turns else 1
        results.append(tuple(index for column in range(columns) for index in result[column::columns]))
    return verify(replace(graph, outputs=tuple(ports), results=tuple(results)))
