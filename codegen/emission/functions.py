"""C functions, their arguments, and calls of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.ir.names import comment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codegen.ir.graph import Port

COLUMNS = 104
"""Characters of a line that several declarations share."""

_DECLARATION = re.compile(r"(const \w+) (\w+ = .*);")

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

    If it is one of `many` statements, declarations share lines; if of `very_many`, all statements do, and variables are
    not declared constant, so that the text is short.
    """

    head: str
    statements: tuple[str, ...]
    many: bool = False
    very_many: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """Its lines."""
        lines = tuple(_shared(self.statements)) if self.many else self.statements
        return tuple(_filled(lines)) if self.very_many else lines


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


def _filled(lines: tuple[str, ...]) -> Iterator[str]:
    """Lines that statements share as long as they fit; comments have their own."""
    line = ""
    for text in lines:
        statement = _DECLARATION.sub(lambda found: found[0].removeprefix("const "), text)
        if line and not text.startswith(_COMMENT) and len(line) + len(statement) < COLUMNS:
            line += f" {statement}"
            continue
        if line:
            yield line
        line = statement
        if text.startswith(_COMMENT):
            yield line
            line = ""
    if line:
        yield line


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function, by the names of its arguments."""

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)});"
