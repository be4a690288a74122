"""Matrices of constants that maps take: tables of the maps, which nothing stores at every call.

Inertias of bodies are constants once passes have multiplied numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ir.operations import CONST
from codegen.ir.vanishing import needed

if TYPE_CHECKING:
    from codegen.ir.products import WithProducts


def tabulated(function: WithProducts) -> WithProducts:
    """The same function, whose maps have tables in the place of constants that its graph made for them."""
    graph, tables = function.graph, dict[str, tuple[float, ...]]()
    for port, result in zip(graph.outputs, graph.results, strict=True):
        own = [graph.values[index] for index in result]
        if all(value.op == CONST for value in own):
            tables[port.name] = tuple(value.constant for value in own)
    if not any(tables.keys() & {*own.names} for own in function.maps):
        return function
    maps = tuple(
        replace(own, takes=tuple(tables.get(x, x) if isinstance(x, str) else x for x in own.takes))
        for own in function.maps
    )
    return needed(replace(function, maps=maps))
