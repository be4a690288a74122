"""The statements of a graph: one per operation, in its order, in one or more parts, each of which is a function.

A part unpacks at its top the elements of arguments that it reads. What outlives a part travels through the workspace
`w`. Results are stored as soon as they are there, but not before the last argument has been read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codegen.backends.c_portable.names import names
from codegen.backends.c_portable.spelling import TRUTHS
from codegen.emission.blocks import PAIR
from codegen.emission.kernels import owners
from codegen.emission.layout import START, layout
from codegen.emission.spelling import targets
from codegen.emission.statements import Part, entering
from codegen.emission.stores import due, runs
from codegen.ir.names import comment
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codegen.backends.c_portable.spelling import Words
    from codegen.emission.functions import Argument
    from codegen.emission.layout import Layout
    from codegen.emission.spec import Header
    from codegen.emission.splitting import Lengths
    from codegen.ir.graph import Graph

FILLED = 4
"""So many neighbours that become the same number are filled by a loop."""


def statements(
    graph: Graph, header: Header, given: Sequence[Argument], words: Words, lengths: Lengths
) -> tuple[tuple[Part, ...], int]:
    """The parts of a graph with these arguments, and the length of their workspace."""
    plan = layout(graph, (), False, lengths)
    named = {place: comment(row.name) for place, row in owners(header, graph.inputs).items()}
    stored, firsts = due(graph, plan), entering(graph, plan, named)
    text, stores = names(graph, header, given, words), targets(graph, [a.name for a in given])
    parts = []
    for number, units in enumerate(plan.parts):
        writer = _Writer(graph, plan, words, text, stores)
        results = [stored.get(START, ()) if number == 0 else (), *(stored.get(index, ()) for index in units)]
        if len(plan.parts) > 1:
            writer.say(f"Part {number + 1} of {len(plan.parts)}.")
        writer.unpack([a.name for a in given], units, [index for own in results for index in own])
        writer.store(results[0])
        for index, own in zip(units, results[1:], strict=True):
            if index in firsts:
                writer.say(f"First use of the coordinates of {', '.join(firsts[index])}.")
            writer.make(index)
            writer.store(own)
        parts.append(_part(writer.lines, given))
    return tuple(parts), plan.workspace


def _part(lines: Sequence[str], given: Sequence[Argument]) -> Part:
    """A part takes what it mentions."""
    text = "\n".join(line for line in lines if not line.startswith("/*"))
    mentioned = {*re.findall(r"\b(\w+)\[", text)}
    names = [a.name for a in given]
    taken = tuple(name for name in (*names, "w") if name in mentioned)
    return Part(tuple(lines), taken, tuple(name for name in names if name not in mentioned))


class _Writer:
    """Writes the lines of one part; `known` are the variables and comments that it has."""

    def __init__(
        self, graph: Graph, plan: Layout, words: Words, text: Sequence[str], targets: Mapping[int, Sequence[str]]
    ) -> None:
        self.graph, self.plan, self.words, self.text, self.targets = graph, plan, words, text, targets
        self.lines: list[str] = []
        self.known: set[str] = set()

    def say(self, sentence: str) -> None:
        """A comment, once."""
        if sentence not in self.known:
            self.known.add(sentence)
            self.lines.append(f"/* {sentence} */")

    def unpack(self, names: Sequence[str], units: Iterable[int], results: Iterable[int]) -> None:
        """What units and results read of arguments with these names becomes variables."""
        values, copied = self.graph.values, self.plan.copied
        made = copied.intersection(units)
        read = ({arg for index in units for arg in values[index].args} | {*results}) - copied | made
        found = {(v.port, v.element): self.text[i] for i in read for v in (values[i],) if v.op == INPUT}
        for port, element in sorted(found):
            self.say("Arguments.")
            self._variable(found[port, element], f"{names[port]}[{element}]")

    def make(self, index: int) -> None:
        """An operation."""
        value = self.graph.values[index]
        if index in self.plan.slots and index in self.plan.copied:
            self.lines.append(f"w[{self.plan.slots[index]}] = {self.text[index]};")
        if index in self.plan.copied:
            return
        if value.op in PAIR:
            self.say("Sines and cosines.")
        for arg in value.args:
            self._fetch(arg)
        operands = [self.text[arg] for arg in value.args]
        truths = [self.graph.values[arg].op in TRUTHS for arg in value.args]
        self._variable(self.text[index], self.words.expression(value.op, operands, truths))
        if index in self.plan.slots:
            self.lines.append(f"w[{self.plan.slots[index]}] = {self.text[index]};")

    def store(self, results: Sequence[int]) -> None:
        """Store results."""
        if results:
            self.say("Results, each stored as soon as it is there and no argument is left to read.")
        for index in results:
            self._fetch(index)
            text, whole = self.text[index], self.graph.values[index].op == CONST
            for run in runs(self.targets[index]):
                self.lines += _filled(run, text) if whole and len(run) >= FILLED else [f"{t} = {text};" for t in run]

    def _fetch(self, index: int) -> None:
        """What an earlier part has left in the workspace becomes a variable."""
        leaf = self.graph.values[index].op in (CONST, INPUT) and index not in self.plan.copied
        if not leaf and self.text[index] not in self.known:
            self._variable(self.text[index], f"w[{self.plan.slots[index]}]")

    def _variable(self, name: str, expression: str) -> None:
        self.known.add(name)
        self.lines.append(f"const {self.words.real} {name} = {expression};")


def _filled(run: Sequence[str], text: str) -> list[str]:
    """Neighbours that become the same number."""
    array, _, first = run[0].rstrip("]").partition("[")
    head = f"for (int k = {first}; k < {int(first) + len(run)}; ++k) {{"
    return [head, f"    {array}[k] = {text};", "}"]
