"""What C calls the values of a graph as it is laid out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from codegen.emission.layout import Layout
    from codegen.ir.graph import Graph
    from codegen.languages import Language


@dataclass(frozen=True, slots=True)
class Spelling:
    """By values: `text` of those that are not computed, `literal` those that are numbers, `targets` of results.

    What is computed gets its name in the function that computes or fetches it. `copied` are the elements of arguments
    that inputs are copied from. `elements` tells of sines and cosines which element of an array they are made as,
    `arrays` where these arrays are.
    """

    text: tuple[str, ...]
    literal: tuple[bool, ...]
    targets: dict[int, list[str]]
    copied: dict[int, str]
    elements: dict[int, str]
    arrays: dict[str, str]

    def __str__(self) -> str:
        return f"names of {len(self.text)} values, {len(self.targets)} of them results, {len(self.elements)} angles'"

    def without(self, gone: Collection[str]) -> Spelling:
        """The same without some of the places where results are stored."""
        left = {index: [target for target in own if target not in gone] for index, own in self.targets.items()}
        return replace(self, targets=left)


def spelling(graph: Graph, names: Sequence[str], language: Language, layout: Layout) -> Spelling:
    """The names of all values of a kernel whose arguments have these names."""
    text = _operands(graph, names, language, layout)
    literal = tuple(value.op == CONST for value in graph.values)
    copied = {index: _element(graph, names, index) for index in layout.copied}
    return Spelling(tuple(text), literal, targets(graph, names), copied, *_angles(layout))


def _operands(graph: Graph, names: Sequence[str], language: Language, layout: Layout) -> list[str]:
    """Literals, and elements of arguments that are not copied; nothing for other values."""
    text: list[str] = []
    for index, value in enumerate(graph.values):
        if value.op == CONST:
            text.append(language.scalar.literal(value.constant))
        elif value.op == INPUT and index not in layout.copied:
            text.append(_element(graph, names, index))
        else:
            text.append("")
    return text


def _element(graph: Graph, names: Sequence[str], index: int) -> str:
    return f"{names[graph.values[index].port]}[{graph.values[index].element}]"


def targets(graph: Graph, names: Sequence[str]) -> dict[int, list[str]]:
    """By values: the elements of arguments with these names where results are stored."""
    found: dict[int, list[str]] = {}
    for name, result in zip(names[len(graph.inputs) :], graph.results, strict=True):
        for element, index in enumerate(result):
            found.setdefault(index, []).append(f"{name}[{element}]")
    return found


def _angles(layout: Layout) -> tuple[dict[int, str], dict[str, str]]:
    """The arrays s and c of every block, which are made as blocks y and z, in the workspace or not."""
    elements: dict[int, str] = {}
    arrays: dict[str, str] = {}
    for number, (first, block) in enumerate(layout.blocks.items()):
        home = layout.homes.get(first)
        for made, array, start in (("y", f"s{number}", 0), ("z", f"c{number}", block.length)):
            arrays[array] = f"(const T *){made}{number}" if home is None else f"&w[{home + start}]"
            own = [(index, place - start) for index, place in block.places.items()]
            elements |= {index: f"{array}[{place}]" for index, place in own if 0 <= place < block.length}
    return elements, arrays
