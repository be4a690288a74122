"""Products of zeros: what may not differ from zero anywhere is not multiplied, and what only it takes is not made.

A robot on one foot has no trunk that carries several limbs: the forces on its joints vanish, whatever the motion.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ir.products import MatrixProduct, made_by, names_taken

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from codegen.ir.graph import Graph
    from codegen.ir.products import WithProducts

    Pattern = NDArray[np.bool_]


def without_vanishing(function: WithProducts) -> WithProducts:
    """The same function without terms that vanish, and what nothing takes then; its graph may keep dead values."""
    known = function.patterns()
    products = tuple(_left(own, known) if isinstance(own, MatrixProduct) else own for own in function.products)
    if products == function.products:
        return function
    return needed(replace(function, products=products))


def needed(function: WithProducts) -> WithProducts:
    """The same function without products and results of its graph that nothing takes; it may keep dead values."""
    found = function
    while True:
        taken = {port.name for port in found.outputs} | {gather.source for gather in found.gathers}
        taken |= {name for own in (*found.products, *found.maps) for name in names_taken(own)}
        products = tuple(own for own in found.products if {port.name for port in made_by(own)} & taken)
        if products == found.products:
            return replace(found, graph=_making(found.graph, taken))
        found = replace(found, products=products)


def _left(own: MatrixProduct, known: Mapping[str, Pattern]) -> MatrixProduct:
    """A product without terms that vanish; one of them stays if all do."""
    factors = [term.factors(known, own.port.shape) for term in own.terms]
    terms = [term for term, (left, right) in zip(own.terms, factors, strict=True) if (left @ right).any()]
    return own.of(own.plus, terms or own.terms[:1])


def _making(graph: Graph, taken: set[str]) -> Graph:
    """The graph with those results that something takes."""
    pairs = [(port, own) for port, own in zip(graph.outputs, graph.results, strict=True) if port.name in taken]
    return replace(graph, outputs=tuple(port for port, _ in pairs), results=tuple(own for _, own in pairs))
