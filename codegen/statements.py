"""The statements of a kernel: one per operation, in the graph's order, in one or more parts.

A part is one C function. Values that outlive their part travel through the workspace `w`, whose slots are
used again once their value has been read for the last time. Outputs are stored after everything else, so an
output array may be an input array.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.backends import Scalar
    from codegen.graph import Graph


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of one C function, the names of its arguments, and those that no line mentions."""

    lines: tuple[str, ...]
    names: tuple[str, ...]
    unused: tuple[str, ...]


def statements(graph: Graph, names: Sequence[str], backend: Scalar, chunk: int) -> tuple[tuple[Part, ...], int]:
    """The parts of a kernel whose arguments have these C names, and the length of their workspace."""
    return _Writer(graph, names, backend, chunk).write()


class _Writer:
    """Spells the graph; `part` says in which part a value is made, `last` in which it is used last."""

    def __init__(self, graph: Graph, names: Sequence[str], backend: Scalar, chunk: int) -> None:
        self.graph, self.names, self.backend = graph, names, backend
        operations = sum(value.op not in (CONST, INPUT) for value in graph.values)
        self.parts = max(1, -(-operations // chunk))
        self.size = -(-operations // self.parts) if operations else 1
        self.text = self._operands()
        self.part, self.last = self._spans()
        self.slot: dict[int, int] = {}

    def _operands(self) -> list[str]:
        """What each value is called where it is used."""
        text, number = [], 0
        for value in self.graph.values:
            if value.op == CONST:
                text.append(self.backend.literal(value.constant))
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
        last = list(part)
        for index, value in enumerate(self.graph.values):
            for arg in value.args:
                last[arg] = part[index]
        for result in self.graph.results:
            for index in result:
                last[index] = self.parts - 1
        return part, last

    def write(self) -> tuple[tuple[Part, ...], int]:
        values = self.graph.values
        members: list[list[int]] = [[] for _ in range(self.parts)]
        for index, value in enumerate(values):
            if value.op not in (CONST, INPUT):
                members[self.part[index]].append(index)
        workspace = self._allocate(members)
        spelling = self.backend.spellings()
        parts = []
        for k, member in enumerate(members):
            known = set[int]()
            lines: list[str] = []
            for index in member:
                value = values[index]
                for arg in value.args:
                    self._fetch(k, arg, known, lines)
                operands = [self.text[arg] for arg in value.args]
                lines.append(f"const T {self.text[index]} = {spelling[value.op].format(*operands)};")
                if index in self.slot:
                    lines.append(f"w[{self.slot[index]}] = {self.text[index]};")
            if k == self.parts - 1:
                lines += self._stores(k, known)
            parts.append(self._part(lines, k))
        return tuple(parts), workspace

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

    def _stores(self, k: int, known: set[int]) -> list[str]:
        """Outputs are stored last; inputs that are results are read before the first store."""
        reads: list[str] = []
        stores: list[str] = []
        names = self.names[len(self.graph.inputs) :]
        copies: dict[int, str] = {}
        for name, result in zip(names, self.graph.results, strict=True):
            for element, index in enumerate(result):
                self._fetch(k, index, known, reads)
                text = self.text[index]
                if self.graph.values[index].op == INPUT:
                    if index not in copies:
                        copies[index] = f"t{len(self.graph.values) + len(copies)}"
                        reads.append(f"const T {copies[index]} = {text};")
                    text = copies[index]
                stores.append(f"{name}[{element}] = {text};")
        return reads + stores

    def _part(self, lines: list[str], k: int) -> Part:
        """A part takes all inputs, the outputs if it is the last, the workspace if it is not the only one."""
        inputs = len(self.graph.inputs)
        names = [*self.names[:inputs], *(self.names[inputs:] if k == self.parts - 1 else ())]
        names += ["w"] if self.parts > 1 else []
        mentioned = set(re.findall(r"\b(\w+)\[", "\n".join(lines)))
        return Part(tuple(lines), tuple(names), tuple(name for name in names if name not in mentioned))
