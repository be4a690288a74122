"""What emission is told about a robot and its functions, besides their graphs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from string import hexdigits
from typing import TYPE_CHECKING, Literal

from codegen.emission.in_place import in_place
from codegen.emission.splitting import Lengths
from codegen.emission.tiles import BLOCKS
from codegen.ir.counted import counted
from codegen.ir.counting import Count, added, count
from codegen.ir.graph import STATUS, Port
from codegen.ir.names import comment, identifier
from codegen.ir.padded import padded
from codegen.ir.products import WithProducts
from codegen.languages import SCALARS, Language
from codegen.packing import Packed, pack

if TYPE_CHECKING:
    from collections.abc import Callable

    from codegen.ir.graph import Graph
    from codegen.ir.staging import Staged
    from codegen.packing import Roles

    InVectors = Callable[[], tuple["Kernel | ProductKernel", Packed]]

LANES = (1, 2, 4, 8, 16)

KEPT = 1 << 15
"""So many reals of the states that take turns fit into a cache at hand, beside the code."""

LANES_FIT = 60_000
"""Reals of the states in lanes that a second-level cache holds; states with more go one after the other."""

CACHED = 1 << 21
"""Reals of the results of all states that are written where they go; more of them are made in a cache and copied."""

LINE = 16
"""Behind the beginning of a line of memory another one begins after every so many reals, in both precisions."""

Registers = Literal["PACKS", "P8", "EIGHTS"]
REGISTERS: tuple[Registers, ...] = ("PACKS", "P8", "EIGHTS")
"""What registers hold, from less to more, by the macros that say so (see `codegen.emission.variants`)."""

TOLERANCE = Port("tol", (), "residual at which the iteration stops (m/s^2, rad/s^2)")
MOST = Port("max_iter", (), "largest number of iterations; one is taken in any case, a million at most")
ITERATIONS = Port("iterations", (), "iterations taken")
LEFT = Port("residual", (), "norm of what the contacts still lack (m/s^2, rad/s^2)")


@dataclass(frozen=True, slots=True)
class Style:
    """How C is written: its real type (a NumPy dtype), whose sine and cosine (`fast` or `libm`), and lanes.

    With `lanes` above 1 every kernel also comes for so many states at once. `lengths` are those of C functions,
    `built` is a sentence for the header on how the text is compiled. With `small_vectors` the compiler is known to have
    them: where limbs go in step, a kernel of one state comes in no other variant. `registers` are the processor's, if
    they are known. Results may be `in_place`, where arguments are.
    """

    dtype: str = "float64"
    trig: str = "fast"
    lanes: int = 1
    lengths: Lengths = field(default_factory=Lengths)
    built: str = ""
    small_vectors: bool = False
    registers: Registers | None = None
    in_place: bool = True

    def __str__(self) -> str:
        lanes = f", {self.lanes} lanes" if self.lanes > 1 else ""
        return f"{self.dtype}, {self.trig} angles{lanes}, {self.lengths}"

    @property
    def short(self) -> Style:
        """The same as short a text as there is, which nobody reads."""
        return replace(self, lengths=replace(self.lengths, readable=0))

    @property
    def turns(self) -> int:
        """How many states take turns in the parts of functions: their registers are what counts."""
        return self.lengths.turns * (2 if self.dtype == "float32" else 1)

    @property
    def fit(self) -> int:
        """How many reals of states in lanes a cache holds."""
        return LANES_FIT * (2 if self.dtype == "float32" else 1)

    @property
    def cached(self) -> int:
        """How many reals of results of all states a cache holds."""
        return CACHED * (2 if self.dtype == "float32" else 1)

    def language(self, prefix: str) -> Language:
        """The C that this style is written in, with this prefix."""
        return Language(SCALARS[self.dtype], prefix, self.trig, self.in_place)


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
    the acceleration of free fall in world axes (m/s^2), `digest` the content hash of the model, `usual` has
    sensible arguments for the example program: by name, numbers that are repeated as long as it takes,
    `contacts` a sentence on their rows and then one for each, or nothing.
    """

    robot: str
    prefix: str
    nq: int
    nv: int
    joints: tuple[JointRow, ...] = ()
    convention: str = ""
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    digest: str = ""
    usual: tuple[tuple[str, tuple[float, ...]], ...] = ()
    notes: tuple[str, ...] = ()
    contacts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"header of {self.robot}: prefix {self.c_prefix}, nq {self.nq}, nv {self.nv}"

    @property
    def c_prefix(self) -> str:
        """The prefix of every C symbol."""
        return identifier(self.prefix)

    @property
    def model(self) -> str:
        """The content hash as a C string holds it: its hex digits."""
        return "".join(digit for digit in self.digest if digit in hexdigits)

    @property
    def names(self) -> dict[str, str]:
        """What every template calls the robot."""
        return {"prefix": self.c_prefix, "PREFIX": self.c_prefix.upper(), "robot": comment(self.robot)}


@dataclass(frozen=True, slots=True)
class Kernel:
    """One function to emit: its graph (named as its algorithm), what it computes, its count as written.

    `ways` are those in which limbs might go in step (`codegen.packing.pack`), `folded` says what is no argument,
    `sections` what the graph's labels stand for, if comments are to say so. `in_vectors` makes the kernel of the same
    function for one state by loops over columns, and what of it is straight-line code with limbs in step, if there are
    such loops where registers hold several numbers.
    """

    graph: Graph
    about: str = ""
    written: Count = field(default_factory=Count)
    ways: tuple[Roles, ...] = ()
    folded: str = ""
    sections: tuple[str, ...] = ()
    in_vectors: InVectors | None = None

    def __str__(self) -> str:
        return f"kernel {self.graph.name}: {self.count}"

    @property
    def name(self) -> str:
        """The algorithm."""
        return self.graph.name

    @property
    def inputs(self) -> tuple[Port, ...]:
        """What the function takes."""
        return self.graph.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        """What it gives."""
        return self.graph.outputs

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """All that is emitted."""
        return (self.graph,)

    @property
    def can_fail(self) -> bool:
        """Whether the function has a status to return."""
        return STATUS in self.outputs

    @property
    def count(self) -> Count:
        """The operators in the emitted text."""
        return count(self.graph)

    def packed(self, beside: int = 0) -> Packed | None:
        """The same function with limbs in step, where that is worth it; to find it takes as long as all passes.

        So many operations are `beside` it in the same C.
        """
        return pack(self.graph, self.ways, beside=beside)


@dataclass(frozen=True, slots=True)
class ProductKernel:
    """A function of which some results are products of matrices: a graph, and then loops; else as `Kernel`."""

    function: WithProducts
    about: str = ""
    written: Count = field(default_factory=Count)
    ways: tuple[Roles, ...] = ()
    folded: str = ""
    in_vectors: InVectors | None = None

    def __str__(self) -> str:
        return f"kernel {self.name} with products: {self.count}"

    @property
    def name(self) -> str:
        """The algorithm."""
        return self.function.graph.name

    @property
    def inputs(self) -> tuple[Port, ...]:
        """What the function takes."""
        return self.function.graph.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        """What it gives."""
        return self.function.outputs

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """What is emitted as straight-line code."""
        return (self.function.graph, *self.function.called)

    @property
    def can_fail(self) -> bool:
        """Whether the function has a status to return."""
        return STATUS in self.outputs

    @property
    def count(self) -> Count:
        """The operations of the straight-line code and of all products."""
        return counted(self.function)

    def packed(self, beside: int = 0) -> Packed | None:
        """The straight-line code with limbs in step, where that is worth it; so many operations are `beside` it."""
        called = sum(count(graph).total for graph in self.function.called)
        return pack(self.function.graph, self.ways, beside=beside + called)


def straight(kernel: Kernel | ProductKernel) -> Graph:
    """What of a kernel is straight-line code."""
    return kernel.function.graph if isinstance(kernel, ProductKernel) else kernel.graph


def kernel_of(
    function: Graph | WithProducts,
    about: str,
    written: Count,
    ways: tuple[Roles, ...] = (),
    folded: str = "",
    sections: tuple[str, ...] = (),
    in_vectors: InVectors | None = None,
) -> Kernel | ProductKernel:
    """The kernel of a function; comments name sections where all is straight-line code."""
    if isinstance(function, WithProducts):
        return ProductKernel(in_place(padded(function), BLOCKS), about, written, ways, folded, in_vectors)
    return Kernel(function, about, written, ways, folded, sections, in_vectors)


@dataclass(frozen=True, slots=True)
class LoopKernel:
    """A function that iterates until its residual is small: three graphs around a loop.

    Its own arguments are the tolerance of the residual and the largest number of iterations; it tells how many it
    took and what residual is left.
    """

    name: str
    stages: Staged
    about: str = ""
    written: Count = field(default_factory=Count)
    folded: str = ""

    def __str__(self) -> str:
        return f"kernel {self.name}, iterative: {self.count}"

    @property
    def inputs(self) -> tuple[Port, ...]:
        """What the function takes."""
        return (*self.stages.prepare.inputs, TOLERANCE, MOST)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """What it gives."""
        own = self.stages.finish.outputs
        status = (STATUS,) * self.can_fail
        return (*own[: len(own) - len(status)], ITERATIONS, LEFT, *status)

    @property
    def can_fail(self) -> bool:
        """Whether the function has a status to return."""
        return STATUS in self.stages.finish.outputs

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """All that is emitted, in the order in which it runs."""
        return (self.stages.prepare, self.stages.step, self.stages.finish)

    @property
    def count(self) -> Count:
        """The operators in the emitted text: start, one step and finish."""
        return added(count(graph) for graph in self.graphs)
