"""A packed graph: some of its values are computed together, one lane each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.ir.graph import Graph, Value
from codegen.ir.operations import CONST, INPUT
from codegen.passes.angles import reordered
from codegen.passes.depth_first import short_lived
from codegen.passes.last_use_first import early_ends
from codegen.passes.list_scheduling import waited_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    Pack = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Packed:
    """A graph, and packs of its values: one operation each, on other arguments, to be done at once.

    The members of a pack stand together in the graph, in order.
    """

    graph: Graph
    packs: tuple[Pack, ...]

    def __str__(self) -> str:
        return f"{self.graph.name}: {len(self.graph.values)} values, {len(self.packs)} packs"

    @property
    def steps(self) -> int:
        """How many things there are to do: operations by themselves, packs, and operands of packs to be gathered."""
        values, known = self.graph.values, set(self.packs)
        alone = sum(value.op not in (CONST, INPUT) for value in values) - sum(map(len, self.packs))
        operands = {args for pack in self.packs for args in zip(*(values[index].args for index in pack), strict=True)}
        gathered = [args for args in operands - known if any(values[arg].op != CONST for arg in args)]
        return alone + len(known) + sum(len(set(args)) > 1 for args in gathered)


def arranged(graph: Graph, packs: Sequence[Pack]) -> Packed:
    """The graph in an order in which packs stand together and values are kept for short times.

    Members of a pack must follow one another already, but for values that no other member needs.
    """
    unit: list[Pack] = [(index,) for index in range(len(graph.values))]
    for pack in packs:
        for index in pack:
            unit[index] = pack
    members = sorted(set(unit))
    place = {index: at for at, own in enumerate(members) for index in own}
    whole = _condensed(graph, members, place)
    order = [index for at in waited_for(whole, early_ends(whole, short_lived(whole))) for index in members[at]]
    moved = {index: at for at, index in enumerate(order)}
    return Packed(reordered(graph, order), tuple(tuple([moved[index] for index in pack]) for pack in packs))


def _condensed(graph: Graph, members: Sequence[Pack], place: dict[int, int]) -> Graph:
    """The graph with each pack as one value; `place` is where every value of the graph is then."""
    values = []
    for own in members:
        args = [place[arg] for index in own for arg in graph.values[index].args]
        values.append(Value(graph.values[own[0]].op, tuple(dict.fromkeys(args))))
    results = tuple(tuple([place[index] for index in result]) for result in graph.results)
    return Graph(graph.name, graph.inputs, graph.outputs, tuple(values), results)
