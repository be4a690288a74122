"""What C calls the values of a graph as it is laid out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codegen.emission.layout import Layout
    from codegen.emission.rows import Row
    from codegen.ir.graph import Graph
    from codegen.languages import Language


@dataclass(frozen=True, slots=True)
class Spelling:
    """By values: `text` where they are used, `literal` those that are numbers, `targets` where results are stored.

    `copied` are the elements of arguments that inputs are copied from. `elements` tells of sines and cosines which
    element of an array they are made as, `arrays` where these arrays are.
    """

    text: tuple[str, ...]
    literal: tuple[bool, ...]
    targets: dict[int, list[str]]
    copied: dict[int, str]
    elements: dict[int, str]
    arrays: dict[str, str]

    def __str__(self) -> str:
        return f"names of {len(self.text)} values, {len(self.targets)} of them results, {len(self.elements)} angles'"

    def without(self, rows: Iterable[Row]) -> Spelling:
        """The same without the places of results that are stored in rows."""
        gone = {target for row in rows for target in row.targets}
        left = {index: [target for target in own if target not in gone] for index, own in self.targets.items()}
        return replace(self, targets=left)


def spelling(graph: Graph, names: Sequence[str], language: Language, layout: Layout) -> Spelling:
    """The names of all values of a kernel whose arguments have these names."""
    text = _operands(graph, names, language, layout)
    literal = tuple(value.op == CONST for value in graph.values)
    copied = {index: _element(graph, names, index) for index in layout.copied}
    return Spelling(tuple(text), literal, targets(graph, names), copied, *_angles(layout, text))


def _operands(graph: Graph, names: Sequence[str], language: Language, layout: Layout) -> list[str]:
    """Literals, elements of arguments that are not copied, numbered variables, elements of numbered vectors."""
    text: list[str] = []
    number = 0
    for index, value in enumerate(graph.values):
        if value.op == CONST:
            text.append(language.scalar.literal(value.constant))
        elif value.op == INPUT and index not in layout.copied:
            text.append(_element(graph, names, index))
        elif index in layout.pack:
            place = layout.pack[index].index(index)
            number += place == 0
            text.append(f"t{number - 1}[{place}]")
        else:
            text.append(f"t{number}")
            number += 1
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


def _angles(layout: Layout, text: Sequence[str]) -> tuple[dict[int, str], dict[str, str]]:
    """The arrays s and c of every block, which are made as blocks y and z, in the workspace or not."""
    elements: dict[int, str] = {}
    arrays: dict[str, str] = {}
    for first, block in layout.blocks.items():
        number, home = text[first].partition("[")[0][1:], layout.homes.get(first)
        for made, array, start in (("y", f"s{number}", 0), ("z", f"c{number}", block.length)):
            arrays[array] = f"(const T *){made}{number}" if home is None else f"&w[{home + start}]"
            own = [(index, place - start) for index, place in block.places.items()]
            elements |= {index: f"{array}[{place}]" for index, place in own if 0 <= place < block.length}
    return elements, arrays
