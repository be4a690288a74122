"""What emission is told about a robot and its functions, besides their graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codegen.backends import BACKENDS, Language
from codegen.counting import Count, count
from codegen.names import identifier

if TYPE_CHECKING:
    from codegen.graph import Graph

CHUNK = 4000
"""Statements per C function: beyond this gcc's time and memory grow faster than the source."""

LANES = (1, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Style:
    """How C is written: its real type (a NumPy dtype), whose sine and cosine (`fast` or `libm`), and lanes.

    With `lanes` above 1 every kernel also comes for so many states at once. `chunk` is the number of statements
    that a C function should not exceed, `built` a sentence for the header on how the text is compiled.
    """

    dtype: str = "float64"
    trig: str = "fast"
    lanes: int = 1
    chunk: int = CHUNK
    built: str = ""

    def __str__(self) -> str:
        lanes = f", {self.lanes} lanes" if self.lanes > 1 else ""
        return f"{self.dtype}, {self.trig} angles{lanes}, {self.chunk} statements per function"

    def language(self, prefix: str) -> Language:
        """The C that this style is written in, with this prefix."""
        return Language(BACKENDS[self.dtype], prefix, self.trig)


@dataclass(frozen=True, slots=True)
class JointRow:
    """Where a joint finds its coordinates: ranges [start, stop) of q and of v."""

    name: str
    type: str
    q: tuple[int, int]
    v: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Header:
    """What one generated header says about its robot.

    `prefix` may be any text, `identifier` makes it safe. `convention` and `notes` are sentences, `gravity` is
    the acceleration of free fall in world axes (m/s^2), `digest` the content hash of the model, `neutral` a
    configuration for the example program.
    """

    robot: str
    prefix: str
    nq: int
    nv: int
    joints: tuple[JointRow, ...] = ()
    convention: str = ""
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    digest: str = ""
    neutral: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"header of {self.robot}: prefix {self.c_prefix}, nq {self.nq}, nv {self.nv}"

    @property
    def c_prefix(self) -> str:
        """The prefix of every C symbol."""
        return identifier(self.prefix)


@dataclass(frozen=True, slots=True)
class Kernel:
    """One function to emit: its graph (named as its algorithm), what it computes, its count as written."""

    graph: Graph
    about: str = ""
    written: Count = field(default_factory=Count)

    def __str__(self) -> str:
        return f"kernel {self.graph.name}: {count(self.graph)}"
