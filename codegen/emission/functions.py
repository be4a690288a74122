"""C functions, their arguments, and calls of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.ir.names import comment

if TYPE_CHECKING:
    from codegen.ir.graph import Port


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
    """One C function: all before its brace, and its lines."""

    head: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function, by the names of its arguments."""

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.arguments)});"
