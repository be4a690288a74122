"""The statements of a kernel: one per operation, in the graph's order, in one or more parts.

A part is one C function; values that outlive their part travel through the workspace `w`. Outputs are stored as soon
as they are there, but not before the last input has been read, so an output array may be an input array. Sines and
cosines that stand together are taken in one go, as arrays. The members of a pack are the elements of one vector.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codegen.emission.blocks import EIGHT, Block
from codegen.emission.layout import layout
from codegen.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.backends import Language
    from codegen.graph import Graph


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of one C function, the names of its arguments, and those that no line mentions."""

    lines: tuple[str, ...]
    names: tuple[str, ...]
    unused: tuple[str, ...]


def statements(
    graph: Graph, names: Sequence[str], language: Language, chunk: int, packs: Sequence[tuple[int, ...]] = ()
) -> tuple[tuple[Part, ...], int]:
    """The parts of a kernel whose arguments have these C names, and the length of their workspace.

    The members of each pack stand together in the graph.
    """
    return _Writer(graph, names, language, chunk, packs).write()


def _row(first: str, elements: Sequence[str]) -> str:
    """Elements of an array as a vector: one load if they are neighbours."""
    array, _, at = first.rstrip("]").partition("[")
    neighbours = [f"{array}[{int(at) + k}]" for k in range(len(elements))]
    if neighbours == list(elements):
        return f"*(const P{len(elements)}_ANY *)&{first}"
    return f"{{{', '.join(elements)}}}"


class _Writer:
    """Spells the graph as it is laid out; `gathered` are the names of vectors made of other values."""

    def __init__(
        self,
        graph: Graph,
        names: Sequence[str],
        language: Language,
        chunk: int,
        packs: Sequence[tuple[int, ...]],
    ) -> None:
        self.graph, self.names, self.language = graph, names, language
        self.layout = layout(graph, packs, language.own_angles, chunk)
        self.pack, self.part, self.slot = self.layout.pack, self.layout.part, self.layout.slots
        self.literal = [value.op == CONST for value in graph.values]
        self.text = self._operands()
        self.stores = self._targets()
        self.elements, self.arrays = self._arrays()
        self.gathered: dict[tuple[int, ...], str] = {}

    def _type(self, index: int) -> str:
        return f"P{len(self.pack[index])}" if index in self.pack else "T"

    def _name(self, index: int) -> str:
        """What a value's whole unit is called."""
        return self.text[index].partition("[")[0] if index in self.pack else self.text[index]

    def _operands(self) -> list[str]:
        """What each value is called where it is used."""
        text, number = [], 0
        for index, value in enumerate(self.graph.values):
            if value.op == CONST:
                text.append(self.language.scalar.literal(value.constant))
            elif value.op == INPUT:
                text.append(f"{self.names[value.port]}[{value.element}]")
            elif index in self.pack:
                place = self.pack[index].index(index)
                number += place == 0
                text.append(f"t{number - 1}[{place}]")
            else:
                text.append(f"t{number}")
                number += 1
        return text

    def _targets(self) -> dict[int, list[str]]:
        """Where each result is stored."""
        stores: dict[int, list[str]] = {}
        for name, result in zip(self.names[len(self.graph.inputs) :], self.graph.results, strict=True):
            for element, index in enumerate(result):
                stores.setdefault(index, []).append(f"{name}[{element}]")
        return stores

    def write(self) -> tuple[tuple[Part, ...], int]:
        parts, free = [], self.layout.free
        ready: list[int] | None = [index for index in self.stores if self.graph.values[index].op in (CONST, INPUT)]
        for k, units in enumerate(self.layout.parts):
            known = set[Any]()
            lines: list[str] = []
            if free < 0 and ready is not None:
                lines += self._stored(k, ready, known)
                ready = None
            for index in units:
                if index in self.layout.blocks:
                    self._angles(k, self.layout.blocks[index], known, lines)
                if index not in self.layout.at_home:
                    expression = self._expression(k, index, known, lines)
                    lines.append(f"const {self._type(index)} {self._name(index)} = {expression};")
                    if index in self.slot:
                        lines.append(f"{self._place(index)} = {self._name(index)};")
                if ready is None:
                    lines += self._stored(k, self.layout.unit(index), known)
                else:
                    ready += self.layout.unit(index)
                if index == free and ready is not None:
                    lines += self._stored(k, ready, known)
                    ready = None
            parts.append(self._part(lines, k))
        return tuple(parts), self.layout.workspace

    def _expression(self, k: int, index: int, known: set[Any], lines: list[str]) -> str:
        pack, op = self.layout.unit(index), self.graph.values[index].op
        if index in self.elements:
            return self._taken(index, known, lines)
        operands = list(zip(*(self.graph.values[member].args for member in pack), strict=True))
        for members in operands:
            for arg in members:
                self._fetch(k, arg, known, lines)
        if len(pack) == 1:
            args = [members[0] for members in operands]
            return self.language.spell(op, [self.text[arg] for arg in args], [self.literal[arg] for arg in args])
        same = all(len(set(members)) == 1 for members in operands)
        spelled = [self._vector(members, same, known, lines) for members in operands]
        return self.language.spell(op, spelled, [False] * len(spelled))

    def _vector(self, members: tuple[int, ...], whole: bool, known: set[Any], lines: list[str]) -> str:
        """The operand of a pack, one value for each element: a pack, a number that all share, or values gathered.

        A vector, if it is to be `whole`.
        """
        width = len(members)
        if self.pack.get(members[0]) == members:
            return self._name(members[0])
        if len(set(members)) == 1 and not whole:
            return self.text[members[0]]
        listed = ", ".join(self.text[member] for member in members)
        if all(self.literal[member] for member in members):
            return f"(P{width}){{{listed}}}"
        gathered = self.gathered.get(members)
        if gathered is None:
            gathered = self.gathered[members] = f"g{len(self.gathered)}"
        if members not in known:
            known.add(members)
            lines.append(f"const P{width} {gathered} = {{{listed}}};")
        return gathered

    def _place(self, index: int) -> str:
        """Where a unit is in the workspace."""
        slot = self.slot[index]
        return f"*(P{len(self.pack[index])}_ANY *)&w[{slot}]" if index in self.pack else f"w[{slot}]"

    def _angles(self, k: int, block: Block, known: set[Any], lines: list[str]) -> None:
        """Take a block of sines and cosines."""
        for angle in block.angles:
            self._fetch(k, angle, known, lines)
        first, prefix = block.members[0], self.language.prefix
        number, blocks = self._name(first)[1:], f"{prefix.upper()}_BLOCKS({len(block.angles)})"
        given = [self.language.everywhere(self.text[angle], self.literal[angle]) for angle in block.angles]
        given += given[-1:] * (block.length - len(given))
        rows = [", ".join(given[k : k + EIGHT]) for k in range(0, len(given), EIGHT)]
        home = self.layout.homes.get(first)
        if home is None:
            made = f"BLOCK y{number}[{blocks}], z{number}[{blocks}];"
        else:
            sines, cosines = f"(BLOCK *)&w[{home}]", f"(BLOCK *)&w[{home + block.length}]"
            made = f"BLOCK *const y{number} = {sines}, *const z{number} = {cosines};"
        lines += [
            f"const BLOCK x{number}[] = {{{', '.join(f'{prefix.upper()}_EIGHT({row})' for row in rows)}}};",
            made,
            f"{prefix}_angles(x{number}, y{number}, z{number}, {blocks});",
        ]

    def _arrays(self) -> tuple[dict[int, str], dict[str, str]]:
        """Which element of an array each sine and cosine is, and where the arrays are."""
        elements: dict[int, str] = {}
        arrays: dict[str, str] = {}
        for first, block in self.layout.blocks.items():
            number, home = self._name(first)[1:], self.layout.homes.get(first)
            for made, array, start in (("y", f"s{number}", 0), ("z", f"c{number}", block.length)):
                arrays[array] = f"(const T *){made}{number}" if home is None else f"&w[{home + start}]"
                own = [(index, place - start) for index, place in block.places.items()]
                elements |= {index: f"{array}[{place}]" for index, place in own if 0 <= place < block.length}
        return elements, arrays

    def _taken(self, index: int, known: set[Any], lines: list[str]) -> str:
        """A unit of sines or cosines, out of their array."""
        elements = [self.elements[member] for member in self.layout.unit(index)]
        for array in dict.fromkeys(element.partition("[")[0] for element in elements):
            if array not in known:
                known.add(array)
                lines.append(f"const T *const {array} = {self.arrays[array]};")
        return elements[0] if len(elements) == 1 else _row(elements[0], elements)

    def _fetch(self, k: int, index: int, known: set[Any], lines: list[str]) -> None:
        first = self.layout.unit(index)[0]
        at_home = first in self.layout.at_home
        if first not in known and (at_home or (first in self.slot and self.part[first] < k)):
            known.add(first)
            place = self._taken(first, known, lines) if at_home else self._place(first)
            lines.append(f"const {self._type(first)} {self._name(first)} = {place};")

    def _stored(self, k: int, values: Sequence[int], known: set[Any]) -> list[str]:
        """Store those of the values that are results; inputs among them are read before the first store."""
        reads: list[str] = []
        stores: list[str] = []
        for index in values:
            if index not in self.stores:
                continue
            self._fetch(k, index, known, reads)
            text = self.language.everywhere(self.text[index], self.literal[index])
            if self.graph.values[index].op == INPUT:
                copy = f"t{len(self.graph.values) + index}"
                reads.append(f"const T {copy} = {text};")
                text = copy
            stores += [f"{target} = {text};" for target in self.stores[index]]
        return reads + stores

    def _part(self, lines: list[str], k: int) -> Part:
        """A part takes all inputs, the outputs that it stores, the workspace if it is not the only one."""
        inputs = len(self.graph.inputs)
        mentioned = set(re.findall(r"\b(\w+)\[", "\n".join(lines)))
        outputs = [name for name in self.names[inputs:] if len(self.layout.parts) == 1 or name in mentioned]
        names = [*self.names[:inputs], *outputs, *(["w"] if len(self.layout.parts) > 1 else [])]
        return Part(tuple(lines), tuple(names), tuple(name for name in names if name not in mentioned))
