"""What emission is told about a robot and its functions, besides their graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codegen.counting import Count, count
from codegen.names import identifier

if TYPE_CHECKING:
    from codegen.graph import Graph


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
