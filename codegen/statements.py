"""The statements of a kernel: one per operation, in the graph's order, in one or more parts.

A part is one C function. Values that outlive their part travel through the workspace `w`, whose slots are
used again once their value has been read for the last time. Outputs are stored as soon as they are there, but not
before the last input has been read, so an output array may be an input array. Sines and cosines that stand together
are taken in one go, as arrays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

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


def statements(graph: Graph, names: Sequence[str], language: Language, chunk: int) -> tuple[tuple[Part, ...], int]:
    """The parts of a kernel whose arguments have these C names, and the length of their workspace."""
    return _Writer(graph, names, language, chunk).write()


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


class _Writer:
    """Spells the graph; `part` says in which part a value is made, `last` in which it is used last."""

    def __init__(self, graph: Graph, names: Sequence[str], language: Language, chunk: int) -> None:
        self.graph, self.names, self.language = graph, names, language
        self.literal = [value.op == CONST for value in graph.values]
        operations = sum(value.op not in (CONST, INPUT) for value in graph.values)
        self.parts = max(1, -(-operations // chunk))
        self.size = -(-operations // self.parts) if operations else 1
        self.text = self._operands()
        self.blocks = {block[0]: block for block in _blocks(graph, language.own_angles)}
        self.part, self.last = self._spans()
        self.stores, self.free = self._targets()
        for index in self.stores:
            self.last[index] = max(self.last[index], self.part[self.free], self.part[index])
        self.slot: dict[int, int] = {}

    def _operands(self) -> list[str]:
        """What each value is called where it is used."""
        text, number = [], 0
        for value in self.graph.values:
            if value.op == CONST:
                text.append(self.language.scalar.literal(value.constant))
            elif value.op == INPUT:
                text.append(f"{self.names[value.port]}[{value.element}]")
            else:
                text.append(f"t{number}")
                number += 1
        return text

    def _spans(self) -> tuple[list[int], list[int]]:
        part, number = [], 0
        for value in self.graph.values:
            part.append(number // self.size)
            number += value.op not in (CONST, INPUT)
        for block in self.blocks.values():
            for index in block:
                part[index] = part[block[0]]
        last = list(part)
        for index, value in enumerate(self.graph.values):
            for arg in value.args:
                last[arg] = max(last[arg], part[index])
        return part, last

    def _targets(self) -> tuple[dict[int, list[str]], int]:
        """Where each result is stored, and the value that reads an input for the last time (-1: none does)."""
        stores: dict[int, list[str]] = {}
        for name, result in zip(self.names[len(self.graph.inputs) :], self.graph.results, strict=True):
            for element, index in enumerate(result):
                stores.setdefault(index, []).append(f"{name}[{element}]")
        values, made = self.graph.values, self._made()
        reading = [index for index in made if any(values[arg].op == INPUT for arg in values[index].args)]
        return stores, reading[-1] if reading else -1

    def _made(self) -> list[int]:
        """The values in the order in which they are computed."""
        made = [index for index, value in enumerate(self.graph.values) if value.op not in (CONST, INPUT)]
        return sorted(made, key=self.part.__getitem__)

    def write(self) -> tuple[tuple[Part, ...], int]:
        members: list[list[int]] = [[] for _ in range(self.parts)]
        for index in self._made():
            members[self.part[index]].append(index)
        workspace = self._allocate(members)
        parts = []
        ready: list[int] | None = [index for index in self.stores if self.graph.values[index].op in (CONST, INPUT)]
        for k, member in enumerate(members):
            known = set[int]()
            lines: list[str] = []
            elements: dict[int, str] = {}
            if self.free < 0 and ready is not None:
                lines += self._stored(k, ready, known)
                ready = None
            for index in member:
                if index in self.blocks:
                    elements |= self._angles(k, self.blocks[index], known, lines)
                lines.append(f"const T {self.text[index]} = {self._expression(k, index, elements, known, lines)};")
                if index in self.slot:
                    lines.append(f"w[{self.slot[index]}] = {self.text[index]};")
                if ready is None:
                    lines += self._stored(k, [index], known)
                else:
                    ready.append(index)
                if index == self.free and ready is not None:
                    lines += self._stored(k, ready, known)
                    ready = None
            parts.append(self._part(lines, k))
        return tuple(parts), workspace

    def _expression(self, k: int, index: int, elements: dict[int, str], known: set[int], lines: list[str]) -> str:
        if index in elements:
            return elements[index]
        value = self.graph.values[index]
        for arg in value.args:
            self._fetch(k, arg, known, lines)
        operands = [self.text[arg] for arg in value.args]
        return self.language.spell(value.op, operands, [self.literal[arg] for arg in value.args])

    def _angles(self, k: int, block: list[int], known: set[int], lines: list[str]) -> dict[int, str]:
        """Take a block of sines and cosines; where each of them is then."""
        values = self.graph.values
        angles = list(dict.fromkeys(values[index].args[0] for index in block))
        for angle in angles:
            self._fetch(k, angle, known, lines)
        number, prefix = self.text[block[0]][1:], self.language.prefix
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
        free: list[int] = []
        leaving: list[list[int]] = [[] for _ in range(self.parts + 1)]
        length = 0
        for k, member in enumerate(members):
            free += leaving[k]
            for index in member:
                if self.last[index] > k:
                    if not free:
                        free.append(length)
                        length += 1
                    self.slot[index] = free.pop()
                    leaving[self.last[index] + 1].append(self.slot[index])
        return length

    def _fetch(self, k: int, index: int, known: set[int], lines: list[str]) -> None:
        if index in self.slot and self.part[index] < k and index not in known:
            known.add(index)
            lines.append(f"const T {self.text[index]} = w[{self.slot[index]}];")

    def _stored(self, k: int, values: Sequence[int], known: set[int]) -> list[str]:
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
