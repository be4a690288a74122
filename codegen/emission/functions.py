"""C functions, their arguments, and calls of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count, product
from string import ascii_lowercase, digits
from textwrap import indent
from typing import TYPE_CHECKING

from codegen.ir.names import comment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codegen.ir.graph import Port

COLUMNS = 104
"""Characters of a line that several declarations share."""

_DECLARATION = re.compile(r"(const \w+) (\w+ = .*);")

_SUM = re.compile(r" ([+-]) (?![+-])")

_VARIABLE = re.compile(r"\bt\d+\b")

_INITIALS = "CDEFGHIJKLMNOQRSUVWXYZ"
"""Of variables in short text. Small vectors have names that begin with P, numbers are of type T; A0 and B50 are macros
of Arduino and of POSIX, which code beside a single header may have.
"""

_INDENTED = re.compile(r"^ *")

_COMMENT = "/*"


@dataclass(frozen=True, slots=True)
class Argument:
    """One pointer argument of a C function; of an input, `used` are the elements between the first and last read."""

    name: str
    port: Port
    written: bool
    used: range

    @property
    def declaration(self) -> str:
        return f"T *{self.name}" if self.written else f"const T *{self.name}"

    @property
    def line(self) -> str:
        way = "out" if self.written else "in "
        about = f": {comment(self.port.about)}" if self.port.about else ""
        shape = self.port.pattern or " x ".join(map(str, self.port.shape)) or "1"
        return f"{way} {self.name}[{self.port.size}] ({shape}){about}"


@dataclass(frozen=True, slots=True)
class Function:
    """One C function: all before its brace, and its statements.

    If it is one of `many` statements, declarations share lines. If of `very_many`, the text is short: all statements
    share lines, which begin with a single space, variables are not declared constant and have names of two characters,
    and there are no spaces around =, + and -, and after commas. Lines of `shallow` ones are indented by a quarter.
    """

    head: str
    statements: tuple[str, ...]
    many: bool = False
    very_many: bool = False
    shallow: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """Its lines."""
        lines = tuple(_shared(self.statements)) if self.many else self.statements
        return tuple(_short(lines, self._brief())) if self.very_many else lines

    def _brief(self) -> dict[str, str]:
        """Short names for its variables, none of which are names of arguments."""
        taken = {*re.findall(r"\w+", self.head)}
        names = (name for name in _names() if name not in taken)
        return {name: next(names) for name in dict.fromkeys(_VARIABLE.findall(" ".join(self.statements)))}

    @property
    def body(self) -> str:
        """Its lines, indented."""
        if self.shallow:
            return "\n".join(_INDENTED.sub(lambda found: " " * (1 + len(found[0]) // 4), line) for line in self.lines)
        return indent("\n".join(self.lines), " " if self.very_many else "    ")


def _shared(statements: tuple[str, ...]) -> Iterator[str]:
    """Declarations of one type that follow each other share a line as long as they fit."""
    kind = line = ""
    for statement in (*statements, ""):
        found = _DECLARATION.fullmatch(statement)
        if found and found[1] == kind and len(line) + len(found[2]) < COLUMNS:
            line += f", {found[2]}"
            continue
        if line:
            yield f"{line};"
        kind, line = (found[1], f"{found[1]} {found[2]}") if found else ("", "")
        if statement and not found:
            yield statement


def _names() -> Iterator[str]:
    """Names of two characters, then longer ones: C0, C1, ..., Zz, C00, ..."""
    for length in count(1):
        yield from map("".join, product(_INITIALS, *[digits + ascii_lowercase] * length))


def _short(lines: tuple[str, ...], names: Mapping[str, str]) -> Iterator[str]:
    """Short lines, with these names of variables, which statements share if they fit; comments have their own."""
    shared = ""
    for line in lines:
        if line.startswith(_COMMENT):
            yield from filter(None, (shared, line))
            shared = ""
            continue
        own = line.removeprefix("const ") if _DECLARATION.match(line) else line
        own = _SUM.sub(r"\1", own.replace(" = ", "=").replace(", ", ","))
        own = _VARIABLE.sub(lambda found: names[found[0]], own)
        if len(shared) + len(own) < COLUMNS:
            shared = f"{shared} {own}".lstrip()
            continue
        yield shared
        shared = own
    if shared:
        yield shared


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function, by the names of its arguments."""

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)});"
