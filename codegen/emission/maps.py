"""Maps as C functions: a loop whose body is the kernel, several columns at a time where there are small vectors.

The last columns overlap those before where their number does not divide: they are computed twice. Where rows are padded
(`codegen.ir.padded`), eight columns go at a time if registers hold them, and the last of them are zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.emission.functions import Call
from codegen.emission.products import Step, names_of
from codegen.emission.text import render
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codegen.emission.functions import Argument
    from codegen.ir.maps import GraphMap
    from codegen.ir.products import WithProducts
    from codegen.languages import Language


@dataclass(frozen=True, slots=True)
class MapWords:
    """How C spells a kernel's numbers: a `type` of numbers in so many columns, how elements of arrays and of tables are
    read and written, a literal in every column, and a qualifier of pointers.

    Where a macro `vectors` says that there are such, columns behind rows are read, too, and have to be zeros. `spell`
    makes an expression of an operation, its operands, and which of them are literals.
    """

    real: str
    type: str
    across: str
    read: str
    write: str
    table: str
    everywhere: str
    restrict: str
    vectors: str
    literal: Callable[[float], str]
    spell: Callable[[str, Sequence[str], Sequence[bool]], str]

    def __str__(self) -> str:
        return f"columns as {self.type}"


def words_of(language: Language) -> Callable[[GraphMap], MapWords]:
    """The words of C with small vectors, where the compiler has them, for columns; rows go one at a time.

    Of rows nothing is promised to compilers, which would make vectors of them by gathering single numbers.
    """
    macro = language.prefix.upper()

    def form(own: GraphMap) -> tuple[str, ...]:
        """A number's type, how many there are, and how they are read, written, and read of tables."""
        if own.by_rows:
            return "T", "1", "{}", "{}", "ALL({})"
        eight = "8" if own.padded else ""
        ways = (f"{macro}_{way}{eight}({{}})" for way in ("READ", "WRITE", "TABLE"))
        return f"COLUMNS{eight}", f"{macro}_ACROSS{eight}", *ways

    def words(own: GraphMap) -> MapWords:
        kind, across, read, write, table = form(own)
        everywhere, restrict = f"({kind}){{{{0}}}} + {{}}", "" if own.by_rows else f"{macro}_RESTRICT"
        literal, spell = language.scalar.literal, language.spell
        vectors = f"{macro}_PACKS"
        return MapWords("R", kind, across, read, write, table, everywhere, restrict, vectors, literal, spell)

    return words


def map_steps(
    name: str, function: WithProducts, given: Sequence[Argument], words: Callable[[GraphMap], MapWords]
) -> tuple[Step, ...]:
    """The maps of a function as C functions, in order."""
    names, found = names_of(function, given), list[Step]()
    for number, own in enumerate(function.maps):
        taken = {f"x{k}": names[x] for k, x in enumerate(own.takes) if isinstance(x, str)}
        made = {f"y{k}": names[port.name] for k, port in enumerate(own.ports)}
        call = Call(f"{name}_map_{number}", (*taken.values(), *made.values()))
        spelled = words(own)
        found.append(Step(map_lines(own, spelled), tuple(taken), tuple(made), call, spelled.restrict))
    return tuple(found)


def map_lines(own: GraphMap, words: MapWords) -> tuple[str, ...]:
    """The lines of a map's C function; its arguments are x0, x1, ... and then y0, y1, ..."""
    values, literal = own.kernel.values, [value.op == CONST for value in own.kernel.values]
    text: list[str] = []
    body: list[str] = []
    targets = _targets(own)
    for index, value in enumerate(values):
        if value.op == CONST:
            text.append(words.literal(value.constant))
        elif value.op == INPUT:
            form = words.read if isinstance(own.takes[value.port], str) else words.table
            text.append(form.format(f"x{value.port}[{_place(own, value.port, value.element)}]"))
        else:
            text.append(f"t{index}")
            operands, numbers = [text[arg] for arg in value.args], [literal[arg] for arg in value.args]
            body.append(f"const {words.type} t{index} = {words.spell(value.op, operands, numbers)};")
        result = words.everywhere.format(text[index]) if literal[index] else text[index]
        body += [f"{words.write.format(target)} = {result};" for target in targets.get(index, ())]
    body += _behind(own, words.vectors) if words.vectors else []
    constants = {k: map(words.literal, x) for k, x in enumerate(own.takes) if not isinstance(x, str)}
    tables = {k: ", ".join(numbers) for k, numbers in constants.items()}
    last = f"{own.count} - {words.across}"
    at = "line" if own.padded else f"line > {last} ? {last} : line"
    text_of = render("map.jinja", own=own, words=words, body=body, at=at, tables=tables)
    return tuple(line for line in text_of.splitlines() if line)


def _behind(own: GraphMap, vectors: str) -> list[str]:
    """Zeros behind the rows of what a map by rows makes, if these are longer; none of its values are there."""
    sizes, lengths = own.sizes[len(own.takes) :], own.lengths[len(own.takes) :]
    found = [
        f"FILL(&y{port}[{length}*at + {size}], {length - size}, 0.0);"
        for port, (size, length) in enumerate(zip(sizes, lengths, strict=True))
        if own.by_rows and length > size
    ]
    return [f"#if {vectors}", *found, "#endif"] if found else []


def _targets(own: GraphMap) -> dict[int, list[str]]:
    """By values: where they are stored, unless they are there."""
    found: dict[int, list[str]] = {}
    for port, result in enumerate(own.kernel.results):
        for element, index in enumerate(result):
            value = own.kernel.values[index]
            if own.onto and (value.op, value.port, value.element) == (INPUT, 0, element):
                continue
            place = _place(own, len(own.takes) + port, element)
            found.setdefault(index, []).append(f"y{port}[{place}]")
    return found


def _place(own: GraphMap, number: int, element: int) -> str:
    """An element of a column or row of the matrix of this number: those that it takes, then those that it makes."""
    length = own.lengths[number]
    return f"{length}*at + {element}" if own.by_rows else f"{element * length} + at"
