"""Steps and matrices that a function makes twice: the second is the first, as common subexpressions are one value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.ir.calls import GraphCall
from codegen.ir.maps import GraphMap
from codegen.ir.products import made_by

if TYPE_CHECKING:
    from codegen.ir.products import AnyProduct, WithProducts

    Step = AnyProduct | GraphMap


def merged(function: WithProducts) -> WithProducts:
    """The same function, in which nothing is made twice that is no output; calls stay."""
    graph, kept = function.graph, {port.name for port in function.kept}
    names, known = dict[str, str](), dict[object, tuple[str, ...]]()
    pairs = []
    for port, result in zip(graph.outputs, graph.results, strict=True):
        same = known.setdefault((port.shape, result), (port.name,))[0]
        if port.name != same and {port.name, same} <= kept:
            names[port.name] = same
        else:
            pairs.append((port, result))
    steps: list[Step] = []
    for step in function.steps:
        own = tuple(port.name for port in made_by(step))
        now = step.renamed(lambda name: names.get(name, name))
        first = known.setdefault(_unnamed(now, own), own) if not isinstance(now, GraphCall) and {*own} <= kept else own
        if first == own:
            steps.append(now)
        names.update((second, name) for second, name in zip(own, first, strict=True) if second != name)
    outputs, results = tuple(port for port, _ in pairs), tuple(result for _, result in pairs)
    gathers = tuple(replace(own, source=names.get(own.source, own.source)) for own in function.gathers)
    return replace(
        function,
        graph=replace(graph, outputs=outputs, results=results),
        products=tuple(step for step in steps if not isinstance(step, GraphMap)),
        maps=tuple(step for step in steps if isinstance(step, GraphMap)),
        gathers=gathers,
    )


def _unnamed(step: Step, own: tuple[str, ...]) -> Step:
    """A step without names of what it makes."""
    places = {name: f"#{k}" for k, name in enumerate(own)}
    return step.renamed(lambda name: places.get(name, name))
