"""The statements of a kernel: one per operation, in the graph's order, in one or more parts.

A part is one C function. Values that outlive their part travel through the workspace `w`, whose slots are
used again once their value has been read for the last time. Outputs are stored as soon as they are there, but not
before the last input has been read, so an output array may be an input array. Sines and cosines that stand together
are taken in one go, as arrays. The members of a pack are the elements of one vector.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codegen.backends.language import OPERATORS
from codegen.emission.parts import cuts
from codegen.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.backends import Language
    from codegen.graph import Graph

_PAIR = ("sin", "cos")
_LETTER = {"sin": "s", "cos": "c"}


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


def _blocks(graph: Graph, paired: bool) -> list[list[int]]:
    """Runs of sines and cosines none of which needs another one of its run."""
    blocks: list[list[int]] = []
    run: list[int] = []
    for index, value in enumerate(graph.values if paired else ()):
        if value.op in _PAIR:
            if value.args[0] in run:
                blocks.append(run)
                run = []
            run.append(index)
        elif value.op not in (CONST, INPUT) and run:
            blocks.append(run)
            run = []
    return [*blocks, run] if run else blocks


def _row(first: str, elements: Sequence[str]) -> str:
    """Elements of an array as a vector: one load if they are neighbours."""
    array, _, at = first.rstrip("]").partition("[")
    neighbours = [f"{array}[{int(at) + k}]" for k in range(len(elements))]
    if neighbours == list(elements):
        return f"*(const P{len(elements)}_ANY *)&{first}"
    return f"{{{', '.join(elements)}}}"


class _Writer:
    """Spells the graph; `part` says in which part a value is made, `last` in which it is used last."""

    def __init__(
        self,
        graph: Graph,
        names: Sequence[str],
        language: Language,
        chunk: int,
        packs: Sequence[tuple[int, ...]],
    ) -> None:
        self.graph, self.names, self.language = graph, names, language
        self.literal = [value.op == CONST for value in graph.values]
        self.blocks = {block[0]: block for block in _blocks(graph, language.own_angles)}
        self.pack = {index: pack for pack in packs if self._is_vector(pack) for index in pack}
        self.text = self._operands()
        self.starts = self._cuts(chunk)
        self.parts = len(self.starts) + 1
        self.part, self.last = self._spans()
        self.stores, self.free = self._targets()
        for index in self.stores:
            for member in self._unit(index):
                self.last[member] = max(self.last[member], self.part[self.free], self.part[index])
        self.slot: dict[int, int] = {}
        self.gathered: dict[tuple[int, ...], str] = {}

    def _is_vector(self, pack: tuple[int, ...]) -> bool:
        """Whether C computes a pack at once: an operator, or angles of one block."""
        return self.graph.values[pack[0]].op in OPERATORS or any(set(pack) <= set(b) for b in self.blocks.values())

    def _unit(self, index: int) -> tuple[int, ...]:
        """What is computed together with a value."""
        return self.pack.get(index, (index,))

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

    def _cuts(self, chunk: int) -> list[int]:
        """The units, by their numbers, with which new parts begin."""
        values = self.graph.values
        made = [i for i, value in enumerate(values) if value.op not in (CONST, INPUT) and self._unit(i)[0] == i]
        number = {index: k for k, first in enumerate(made) for index in self._unit(first)}
        last = {k: k for k in range(len(made))}
        for index, k in number.items():
            for arg in values[index].args:
                if arg in number:
                    last[number[arg]] = max(last[number[arg]], k)
        return cuts([(k, last[k], len(self._unit(first))) for k, first in enumerate(made)], len(made), chunk)

    def _spans(self) -> tuple[list[int], list[int]]:
        part: list[int] = []
        number = 0
        for index, value in enumerate(self.graph.values):
            first = self._unit(index)[0]
            part.append(part[first] if first < index else bisect_right(self.starts, number))
            number += value.op not in (CONST, INPUT) and first == index
        for block in self.blocks.values():
            for index in block:
                part[index] = part[block[0]]
        last = list(part)
        for index, value in enumerate(self.graph.values):
            for arg in value.args:
                for member in self._unit(arg):
                    last[member] = max(last[member], part[index])
        return part, last

    def _targets(self) -> tuple[dict[int, list[str]], int]:
        """Where each result is stored, and the value that reads an input for the last time (-1: none does)."""
        stores: dict[int, list[str]] = {}
        for name, result in zip(self.names[len(self.graph.inputs) :], self.graph.results, strict=True):
            for element, index in enumerate(result):
                stores.setdefault(index, []).append(f"{name}[{element}]")
        values, made = self.graph.values, self._made()
        reading = [
            index
            for index in made
            if any(values[arg].op == INPUT for member in self._unit(index) for arg in values[member].args)
        ]
        return stores, reading[-1] if reading else -1

    def _made(self) -> list[int]:
        """The units, by their first values, in the order in which they are computed."""
        values = self.graph.values
        made = [i for i, value in enumerate(values) if value.op not in (CONST, INPUT) and self._unit(i)[0] == i]
        return sorted(made, key=self.part.__getitem__)

    def write(self) -> tuple[tuple[Part, ...], int]:
        members: list[list[int]] = [[] for _ in range(self.parts)]
        for index in self._made():
            members[self.part[index]].append(index)
        workspace = self._allocate(members)
        parts = []
        ready: list[int] | None = [index for index in self.stores if self.graph.values[index].op in (CONST, INPUT)]
        for k, member in enumerate(members):
            known = set[Any]()
            lines: list[str] = []
            elements: dict[int, str] = {}
            if self.free < 0 and ready is not None:
                lines += self._stored(k, ready, known)
                ready = None
            for index in member:
                if index in self.blocks:
                    elements |= self._angles(k, self.blocks[index], known, lines)
                expression = self._expression(k, index, elements, known, lines)
                lines.append(f"const {self._type(index)} {self._name(index)} = {expression};")
                if index in self.slot:
                    lines.append(f"{self._place(index)} = {self._name(index)};")
                if ready is None:
                    lines += self._stored(k, self._unit(index), known)
                else:
                    ready += self._unit(index)
                if index == self.free and ready is not None:
                    lines += self._stored(k, ready, known)
                    ready = None
            parts.append(self._part(lines, k))
        return tuple(parts), workspace

    def _expression(self, k: int, index: int, elements: dict[int, str], known: set[Any], lines: list[str]) -> str:
        pack, op = self._unit(index), self.graph.values[index].op
        if index in elements:
            return elements[index] if len(pack) == 1 else _row(elements[index], [elements[member] for member in pack])
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

    def _angles(self, k: int, block: list[int], known: set[Any], lines: list[str]) -> dict[int, str]:
        """Take a block of sines and cosines; where each of them is then."""
        values = self.graph.values
        angles = list(dict.fromkeys(values[index].args[0] for index in block))
        for angle in angles:
            self._fetch(k, angle, known, lines)
        number, prefix = self._name(block[0])[1:], self.language.prefix
        length = f"{prefix.upper()}_ANGLES({len(angles)})"
        given = ", ".join(self.language.everywhere(self.text[angle], self.literal[angle]) for angle in angles)
        lines += [
            f"const T x{number}[{length}] = {{{given}}};",
            f"T s{number}[{length}], c{number}[{length}];",
            f"{prefix}_angles((const R *)x{number}, (R *)s{number}, (R *)c{number}, {length}*{prefix.upper()}_WIDTH);",
        ]
        place = {angle: element for element, angle in enumerate(angles)}
        return {i: f"{_LETTER[values[i].op]}{number}[{place[values[i].args[0]]}]" for i in block}

    def _allocate(self, members: list[list[int]]) -> int:
        """Give a slot to every value that a later part uses; how many slots there are."""
        free: dict[int, list[int]] = {}
        leaving: list[list[int]] = [[] for _ in range(self.parts + 1)]
        length = 0
        for k, member in enumerate(members):
            for index in leaving[k]:
                free[len(self._unit(index))].append(self.slot[index])
            for index in member:
                if self.last[index] > k:
                    width = len(self._unit(index))
                    slots = free.setdefault(width, [])
                    if not slots:
                        slots.append(length)
                        length += width
                    self.slot[index] = slots.pop()
                    leaving[self.last[index] + 1].append(index)
        return length

    def _fetch(self, k: int, index: int, known: set[Any], lines: list[str]) -> None:
        first = self._unit(index)[0]
        if first in self.slot and self.part[first] < k and first not in known:
            known.add(first)
            lines.append(f"const {self._type(first)} {self._name(first)} = {self._place(first)};")

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
        outputs = [name for name in self.names[inputs:] if self.parts == 1 or name in mentioned]
        names = [*self.names[:inputs], *outputs, *(["w"] if self.parts > 1 else [])]
        return Part(tuple(lines), tuple(names), tuple(name for name in names if name not in mentioned))
