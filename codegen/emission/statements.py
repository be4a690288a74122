"""The statements of a kernel: one per value, but for those within others, in the graph's order, in one or more parts.

A part is one C function; values that outlive their part travel through the workspace `w`. Outputs are stored as soon
as they are there, but not before the last input has been read, so an output array may be an input array. Sines and
cosines that stand together are taken in one go, as arrays. The members of a pack are the elements of one vector.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codegen.emission.blocks import EIGHT, PAIR
from codegen.emission.cleared import Cleared, cleared
from codegen.emission.flipped import Flipped, flipped
from codegen.emission.layout import START, layout
from codegen.emission.nesting import LONGEST, nested, within
from codegen.emission.rows import in_rows
from codegen.emission.spelling import spelling
from codegen.emission.stores import due, spread, stored_alone
from codegen.ir.operations import INPUT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from codegen.emission.layout import Layout
    from codegen.emission.rows import Row
    from codegen.emission.spelling import Spelling
    from codegen.emission.splitting import Lengths
    from codegen.ir.graph import Graph
    from codegen.languages import Language

STORES = "Results, each stored as soon as it is there and no input is left to read."

CLEARS = "Results with many zeros: all of them, at once, when no input is left to read."


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of one C function, the names of its arguments, and those that no line mentions."""

    lines: tuple[str, ...]
    names: tuple[str, ...]
    unused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comments:
    """What comments tell: names of what elements of inputs belong to, by port and element, and names of labels."""

    owners: Mapping[tuple[int, int], str] = field(default_factory=dict)
    sections: Sequence[str] = ()


def statements(
    graph: Graph,
    names: Sequence[str],
    language: Language,
    lengths: Lengths,
    packs: Sequence[tuple[int, ...]] = (),
    comments: Comments | None = None,
    unread: Collection[str] = (),
    apart: Collection[str] = (),
    preset: Collection[str] = (),
) -> tuple[tuple[Part, ...], int]:
    """The parts of a kernel whose arguments have these C names, and the length of their workspace.

    The members of each pack stand together in the graph. Comments tell where what an input belongs to comes in first,
    and of a graph with labels where the label changes. Elements of arrays that are `unread` may stay as they are, in
    lanes those that are stored `apart`, too. Zeros of arrays `preset` may be the caller's.
    """
    comments = comments or Comments()
    plan = layout(graph, packs, language.own_angles, lengths, in_place=language.in_place)
    first = cleared(graph, names, unread) if packs else Cleared()
    words, stored = spelling(graph, names, language, plan).without({*unread, *first.zeros}), due(graph, plan)
    rows = in_rows(graph, plan, names, stored, first.zeros) if packs else {}
    words = words.without({target for own in rows.values() for row in own for target in row.targets})
    numbers = spread(graph, plan, words, apart)
    # zeros are due with what is made last before arrays are cleared, which is not alone, then, and is stored after that
    inner, alone, turned = nested(graph, plan, stored), stored_alone(plan, words, stored), flipped(graph, packs)
    parts, firsts = [], entering(graph, plan, comments.owners)
    for number, units in enumerate(plan.parts):
        reads = _reads(graph, plan, words, units, stored, rows)
        writer = _Writer(
            graph, plan, words, language, firsts, comments.sections, inner, alone, reads, apart, preset, turned
        )
        if len(plan.parts) > 1:
            writer.say(f"Part {number + 1} of {len(plan.parts)}.")
        if number == 0:
            writer.clear(first.sizes if plan.free == START else {})
            writer.store(stored.get(START, ()), rows.get(START, ()))
            writer.fill(numbers.get(START, ()))
        for index in units:
            writer.make(index)
            writer.clear(first.sizes if plan.free == index else {})
            writer.store(stored.get(index, ()), rows.get(index, ()))
            writer.fill(numbers.get(index, ()))
        parts.append(_part(writer.lines, names, whole=len(plan.parts) == 1))
    return tuple(parts), plan.workspace


def entering(graph: Graph, plan: Layout, owners: Mapping[tuple[int, int], str]) -> dict[int, list[str]]:
    """By units: whose coordinates, or sines and cosines of them, no unit before has computed with."""
    owned, values = dict[int, str](), graph.values
    for index, value in enumerate(values):
        place = values[value.args[0]] if value.op in PAIR else value
        owner = owners.get((place.port, place.element), "") if place.op == INPUT else ""
        if owner:
            owned[index] = owner
    firsts: dict[int, list[str]] = {}
    known: set[str] = set()
    for unit in (unit for units in plan.parts for unit in units if values[unit].op not in PAIR):
        for arg in (arg for index in plan.unit[unit] for arg in values[index].args if arg in owned):
            owner = owned[arg]
            if owner not in known:
                known.add(owner)
                firsts.setdefault(unit, []).append(owner)
    return firsts


def _reads(
    graph: Graph,
    plan: Layout,
    words: Spelling,
    units: Sequence[int],
    stored: Mapping[int, Sequence[int]],
    rows: Mapping[int, Sequence[Row]],
) -> Counter[int]:
    """How often the statements of one part name each unit, by its first value."""
    args = (arg for unit in units for k in plan.unit[unit] for arg in graph.values[k].args)
    reads = Counter([plan.unit[arg][0] for arg in args])
    for unit in (START, *units):
        for index in stored.get(unit, ()):
            reads[plan.unit[index][0]] += len(words.targets[index])
        reads.update(plan.unit[index][0] for row in rows.get(unit, ()) for index in row.values)
    return reads


def _part(lines: Sequence[str], names: Sequence[str], *, whole: bool) -> Part:
    """A part takes what it mentions, of the workspace, too; if it is the only one, all arguments."""
    text = "\n".join(line for line in lines if not line.startswith("/*"))
    mentioned = {name for name in (*names, "w") if f"{name}[" in text and re.search(rf"\b{name}\[", text)}
    taken = tuple(name for name in (*names, "w") if name in mentioned or (whole and name != "w"))
    return Part(tuple(lines), taken, tuple(name for name in taken if name not in mentioned))


def _row(elements: Sequence[str]) -> str:
    """Elements of an array as a vector: one load if they are neighbours."""
    array, _, at = elements[0].rstrip("]").partition("[")
    neighbours = [f"{array}[{int(at) + k}]" for k in range(len(elements))]
    if neighbours == list(elements):
        return f"P{len(elements)}_OF({elements[0]})"
    return f"(P{len(elements)}){{{', '.join(elements)}}}"


class _Writer:
    """Writes the lines of one part; `known` is what they have named so far, by numbers that begin anew in every part.

    `waiting` are the operators and expressions of units that go into the statements of others (`inner`), and places of
    the workspace that are read once (`reads`). Some results go to their places at once, `alone`.
    """

    def __init__(
        self,
        graph: Graph,
        plan: Layout,
        words: Spelling,
        language: Language,
        entering: Mapping[int, Sequence[str]],
        sections: Sequence[str],
        inner: frozenset[int],
        alone: frozenset[int],
        reads: Mapping[int, int],
        apart: Collection[str],
        preset: Collection[str],
        turned: Mapping[tuple[int, ...], Flipped],
    ) -> None:
        self.graph, self.plan, self.words, self.language, self.entering = graph, plan, words, language, entering
        self.sections, self.section = sections if graph.labels else (), ""
        self.inner, self.alone, self.reads, self.apart, self.preset = inner, alone, reads, apart, preset
        self.flipped = turned
        self.negatives = {index: own for own in turned.values() for index in {*own.members} - {*own.pack}}
        self.lines: list[str] = []
        self.known: dict[Any, str] = {}
        self.numbers: Counter[str] = Counter()
        self.waiting: dict[int, tuple[str, str]] = {}

    def say(self, sentence: str) -> None:
        """A comment, once."""
        if sentence not in self.known:
            self.known[sentence] = ""
            self.lines.append(f"/* {sentence} */")

    def make(self, index: int) -> None:
        """A unit, and the sines and cosines that begin with it."""
        if index in self.plan.copied:
            self.say("Inputs, read before any result is stored.")
        if index in self.plan.blocks:
            self._angles(index)
        if index in self.entering:
            self.say(f"First use of the coordinates of {', '.join(self.entering[index])}.")
        if index in self.negatives:
            self._enter(index)
            self._negative(index)
        elif index not in self.plan.at_home:
            self._enter(index)
            expression = self._expression(index)
            if index in self.inner and len(expression) <= LONGEST:
                self.waiting[index] = self.graph.values[index].op, expression
            else:
                self._keep(index, expression)

    def _keep(self, index: int, expression: str) -> None:
        """A unit goes to its places, and becomes a variable if it is read besides."""
        places, results = self._places(index)
        text = self._assigned(places, expression)
        if places and self.reads[index] == results:
            self.lines.append(f"{text};")
        else:
            self._name(index, text)

    def _places(self, index: int) -> tuple[list[str], int]:
        """Where a unit goes as soon as it is made, and to how many results."""
        results = self.words.targets[index] if index in self.alone else []
        if results:
            self.say(STORES)
        return ([self._place(index)] if index in self.plan.slots else []) + results, len(results)

    def _negative(self, index: int) -> None:
        """A negative that is an element of a vector with signs flipped."""
        own = self.negatives[index]
        element = f"{self._flipped(own)}[{own.members.index(index)}]"
        places, _ = self._places(index)
        if places:
            self.lines.append(f"{self._assigned(places, element)};")
        self.known[index] = element

    def _flipped(self, own: Flipped) -> str:
        """The name of a pack with signs flipped."""
        first = own.pack[0]
        if own.members not in self.known:
            self._fetch(first)
            self.known[own.members] = self._fresh("g")
            kind = f"P{len(own.pack)}"
            text = f"{kind}_SIGNED({self.known[first]}, {own.signs})"
            self.lines.append(f"const {kind} {self.known[own.members]} = {text};")
        return self.known[own.members]

    def _enter(self, index: int) -> None:
        """A comment where another section begins."""
        section = self.sections[self.graph.labels[index]] if self.sections else ""
        if section != self.section:
            self.section = section
            self.lines.append(f"/* {section} */")

    def store(self, results: Sequence[int], rows: Sequence[Row]) -> None:
        """Store results but numbers, and rows of them; inputs among them are read before the first store."""
        stores: list[str] = []
        results = [index for index in results if self.words.targets[index] and not self.words.literal[index]]
        results = [index for index in results if index not in self.alone]
        if results or rows:
            self.say(STORES)
        for index in results:
            self._fetch(index)
            text = self._text(index)
            if self.graph.values[index].op == INPUT and index not in self.plan.copied:
                copy = self._fresh("t")
                self.lines.append(f"const T {copy} = {text};")
                text = copy
            stores.append(f"{self._assigned(self.words.targets[index], text)};")
        for row in rows:
            for index in row.values:
                self._fetch(index)
            kind = f"P{len(row.values)}"
            listed = ", ".join(map(self._text, row.values))
            stores.append(f"{kind}_AT({row.targets[0]}) = ({kind}){{{listed}}};")
        self.lines += stores

    def clear(self, sizes: Mapping[str, int]) -> None:
        """Set arrays of such sizes to zero, of which nothing is stored yet."""
        if sizes:
            self.say(CLEARS)
        for name, size in sizes.items():
            place = f"&{name}[0], {size}"
            self.lines.append(f"ZEROS({place});" if name in self.preset else f"FILL({place}, 0.0);")

    def fill(self, numbers: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Store numbers in the places of results."""
        self.lines += [self._filled(run, index) for index, run in numbers]

    def _assigned(self, places: Sequence[str], expression: str) -> str:
        """An expression, stored in these places, in lanes in those only that are not `apart`."""
        also = f"{self.language.prefix.upper()}_ALSO"
        first = [f"{place} = " for place in places if place not in self.apart]
        return "".join((*first, *(f"{also}({place}) " for place in places if place in self.apart), expression))

    def _filled(self, run: Sequence[str], index: int) -> str:
        """Neighbours that become the same number, if they are `apart` not in lanes."""
        number, place = self.words.text[index], f"&{run[0]}, {len(run)}"
        zero = self.graph.values[index].constant == 0 and run[0].partition("[")[0] in self.preset
        if run[0] in self.apart:
            others = f"{self.language.prefix.upper()}_OTHER"
            return f"{others}_ZEROS({place});" if zero else f"{others}S({place}, {number});"
        if zero:
            return f"ZEROS({place});"
        if len(run) == 1:
            return f"{run[0]} = {self.language.everywhere(number, literal=True)};"
        return f"FILL({place}, {number});"

    def _name(self, index: int, expression: str) -> None:
        """A unit becomes a variable."""
        pack = self.plan.unit[index]
        kind = "T" if len(pack) == 1 else f"P{len(pack)}"
        self.known[index] = self._fresh("t")
        self.lines.append(f"const {kind} {self.known[index]} = {expression};")

    def _fresh(self, letter: str) -> str:
        """A name that begins so, new in this part."""
        self.numbers[letter] += 1
        return f"{letter}{self.numbers[letter] - 1}"

    def _fetch(self, index: int) -> None:
        """A unit that is kept in memory becomes a variable, unless it is one."""
        first = self.plan.unit[index][0]
        if first in self.known:
            return
        if first in self.plan.at_home:
            self._name(first, self._taken(first))
        elif first in self.plan.slots and self.reads[first] == 1 and first not in self.plan.pack:
            self.waiting[first] = "", self._place(first)
        elif first in self.plan.slots:
            self._name(first, self._place(first))

    def _place(self, index: int) -> str:
        """Where a unit is in the workspace."""
        slot, width = self.plan.slots[index], len(self.plan.unit[index])
        return f"w[{slot}]" if width == 1 else f"P{width}_AT(w[{slot}])"

    def _expression(self, index: int) -> str:
        pack, op, words = self.plan.unit[index], self.graph.values[index].op, self.words
        if index in words.elements:
            return self._taken(index)
        if index in self.plan.copied:
            return self.language.everywhere(words.copied[index], literal=False)
        if len(pack) == 1:
            args = self.graph.values[index].args
            for arg in args:
                self._fetch(arg)
            operands = [self._text(arg, op, place) for place, arg in enumerate(args)]
            return self.language.spell(op, operands, [words.literal[arg] for arg in args])
        rows = list(zip(*[self.graph.values[member].args for member in pack], strict=True))
        for members in rows:
            for arg in () if members in self.flipped else members:
                self._fetch(arg)
        same = all(len(set(members)) == 1 for members in rows)
        vectors = [self._vector(members, same, op, place) for place, members in enumerate(rows)]
        return self.language.spell(op, vectors, [False] * len(vectors))

    def _text(self, arg: int, op: str = "", place: int = 0) -> str:
        """An operand at this place of an operator, or of none: the expression that waits for it, or its name."""
        if arg in self.waiting:
            own, text = self.waiting.pop(arg)
            return within(op, text, own, place) if own else text
        unit = self.plan.unit[arg]
        if unit[0] not in self.known:
            return self.words.text[arg]
        name = self.known[unit[0]]
        return name if len(unit) == 1 else f"{name}[{unit.index(arg)}]"

    def _vector(self, members: tuple[int, ...], whole: bool, op: str, place: int) -> str:
        """An operand of a pack, one value for each element: a pack, a number that all share, or values gathered.

        A vector, if it is to be `whole`.
        """
        if self.plan.pack.get(members[0]) == members:
            return self.known[members[0]] if members[0] in self.known else self._text(members[0], op, place)
        if len(set(members)) == 1 and not whole:
            return self._text(members[0], op, place)
        if members in self.flipped:
            return self._flipped(self.flipped[members])
        listed = ", ".join(map(self._single, members))
        if members not in self.known:
            self.known[members] = self._fresh("g")
            self.lines.append(f"const P{len(members)} {self.known[members]} = {{{listed}}};")
        return self.known[members]

    def _single(self, member: int) -> str:
        """A value among others of a vector."""
        text, loaded = self._text(member), self.graph.values[member].op == INPUT and self.plan.pack
        return f"{self.language.prefix.upper()}_SINGLY({text})" if loaded and member not in self.plan.copied else text

    def _angles(self, first: int) -> None:
        """A block of sines and cosines."""
        block, home, prefix = self.plan.blocks[first], self.plan.homes.get(first), self.language.prefix
        self.say("Angles: their sines and cosines, all at once.")
        for angle in block.angles:
            self._fetch(angle)
        number = list(self.plan.blocks).index(first)
        given = [self.language.everywhere(self._single(a), self.words.literal[a]) for a in block.angles]
        given += given[-1:] * (block.length - len(given))
        eights = [f"{prefix.upper()}_EIGHT({', '.join(given[k : k + EIGHT])})" for k in range(0, len(given), EIGHT)]
        blocks = f"{prefix.upper()}_BLOCKS({len(block.angles)})"
        if home is None:
            made = f"BLOCK y{number}[{blocks}], z{number}[{blocks}];"
        else:
            sines, cosines = f"(BLOCK *)&w[{home}]", f"(BLOCK *)&w[{home + block.length}]"
            made = f"BLOCK *const y{number} = {sines}, *const z{number} = {cosines};"
        self.lines += [
            f"const BLOCK x{number}[] = {{{', '.join(eights)}}};",
            made,
            f"{prefix}_angles(x{number}, y{number}, z{number}, {blocks});",
        ]

    def _taken(self, index: int) -> str:
        """A unit of sines or cosines, out of their array."""
        elements = [self.words.elements[member] for member in self.plan.unit[index]]
        for array in dict.fromkeys(element.partition("[")[0] for element in elements):
            if array not in self.known:
                self.known[array] = array
                self.lines.append(f"const T *const {array} = {self.words.arrays[array]};")
        return elements[0] if len(elements) == 1 else _row(elements)
