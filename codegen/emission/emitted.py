"""The C text of one kernel: its functions in variants, what a call on many states needs, and how much of a stack."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from codegen.emission.given_memory import ALIGNED, within
from codegen.emission.spec import KEPT, LINE
from codegen.emission.stack import stack
from codegen.emission.variants import Variant
from codegen.ir.graph import STATUS
from codegen.ir.names import comment, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codegen.emission.functions import Argument, Call, Function
    from codegen.ir.counting import Count


@dataclass(frozen=True, slots=True)
class Emitted:
    """The C text of one kernel, before the header exists, in variants of which one is compiled; lanes take the first.

    Functions that several of them have are `shared`. `helpers` are the lines that make the functions of operations
    which are no operators, `calls` the parts of the function that lanes run, none if it is whole, `turns` how many
    states may take turns in them, `fit` how many reals of states in lanes a cache holds, `kept` where lanes keep
    elements of results. Inputs are `needed` where functions are called with them after others; `columns` are loops over
    these, of which masks choose entries.
    """

    symbol: str
    algorithm: str
    about: str
    arguments: tuple[Argument, ...]
    variants: tuple[Variant, ...]
    helpers: tuple[str, ...]
    calls: tuple[Call, ...]
    turns: int
    fit: int
    kept: Mapping[str, tuple[int, ...]]
    can_fail: bool
    count: Count
    written: Count
    folded: str = ""
    shared: Variant = field(default_factory=Variant)
    needed: bool = False
    columns: bool = False

    @property
    def workspace(self) -> int:
        """Reals that the function keeps between its parts."""
        return max(variant.workspace for variant in self.variants)

    @property
    def memory(self) -> int:
        """Reals that it takes in place of the stack's, if the caller has them; none if it has no such function."""
        own = [variant.memory for variant in self.variants]
        return max(own) + ALIGNED if all(own) else 0

    @property
    def result(self) -> str:
        """What the C function returns: its status, if it has one."""
        return "int" if self.can_fail else "void"

    @property
    def presets(self) -> bool:
        """Whether callers may set zeros of results themselves."""
        bodies = (body for variant in (self.shared, *self.variants) for body in variant.statements)
        return any("ZEROS(" in line for body in bodies for line in body)

    @property
    def summary(self) -> str:
        return comment(self.about)

    @property
    def remarks(self) -> list[str]:
        """Lines on what is no argument."""
        return wrapped(self.folded)

    @property
    def macro(self) -> str:
        return self.symbol.upper()

    def places(self) -> Iterator[tuple[Argument, int]]:
        """Where arguments lie in what a call on many states keeps: outputs, which come last, in place of inputs.

        They lie behind them if inputs are `needed` to the end.
        """
        inputs = sum(argument.port.size for argument in self.arguments if not argument.written)
        place = {False: 0, True: inputs if self.needed else 0}
        for argument in self.arguments:
            yield argument, place[argument.written]
            place[argument.written] += argument.port.size

    @property
    def span(self) -> int:
        """Reals of all arguments where they lie so."""
        return max(place + argument.port.size for argument, place in self.places())

    def groups(self, lanes: int) -> tuple[int, int]:
        """What a call on many states keeps: how many groups of so many lanes, and how many reals of every state.

        Those are the arguments and, where groups take turns in the parts of the function, the workspace.
        """
        own = self.span
        size = own + self.variants[0].workspace
        groups = min(self.turns // lanes, KEPT // (size * lanes)) if self.calls and lanes > 1 else 1
        return (groups, size) if groups > 1 else (1, own)

    def one_by_one(self, lanes: int) -> bool:
        """Whether many states go one after the other: loops over columns whose matrices in lanes fit into no cache."""
        return self.columns and lanes > 1 and (self.span + self.variants[0].workspace) * lanes > self.fit

    def in_lines(self) -> tuple[list[int], int]:
        """Where arguments of one state lie if each begins with a line of memory, and how many reals that takes."""
        ends = list(accumulate(-(-argument.port.size // LINE) * LINE for argument in self.arguments))
        return [0, *ends[:-1]], ends[-1]

    def work(self, lanes: int) -> int:
        """Reals that a call on many states needs, with some to align them."""
        if self.one_by_one(lanes):
            return LINE + lanes * self.in_lines()[1]
        groups, size = self.groups(lanes)
        return lanes * (1 + lanes + groups * size)

    def stack(self, real_bytes: int, *, given: bool = False) -> int:
        """Bytes of stack that a call takes at most, an estimate from above; less if memory is `given`."""
        kept = [(own, own.workspace - own.memory * given) for own in self.variants]
        return max(stack(self.shared.statements + own.statements, reals, real_bytes) for own, reals in kept)

    def within(self, macro: str) -> Iterator[Function]:
        """The function in memory of the caller's, if there is one, in macros of this beginning."""
        if self.memory:
            status = next((a.name for a in self.arguments if a.port == STATUS), "")
            head = f"{macro}_{'STATUS' if status else 'FUNCTION'}({self.symbol}_in)"
            ends = [f"{macro}_RETURN({status})"] if status else []
            place = f"work + ({ALIGNED} - (size_t)work/sizeof(R) % {ALIGNED}) % {ALIGNED}"
            yield within(self.symbol, head, self.declared("T"), "T", place, ends)

    def many_stack(self, lanes: int, real_bytes: int) -> int:
        """The same of a call on many states; where groups take turns, the caller has their workspace."""
        if self.one_by_one(lanes):
            return self.stack(real_bytes)
        first = self.variants[0]
        statements = self.shared.statements + first.statements
        return stack(statements, first.workspace if self.groups(lanes)[0] == 1 else 0, real_bytes, lanes)

    def declared(self, real: str) -> dict[str, str]:
        """The declarations of the arguments by their names, for this type of reals."""
        return {a.name: a.declaration.replace("T *", f"{real} *") for a in self.arguments}

    def heads(self, real: str) -> Iterator[str]:
        """What declares the function, and that in memory of the caller's, if there is one."""
        own = ", ".join(self.declared(real).values())
        yield f"{self.result} {self.symbol}({own})"
        if self.memory:
            yield f"{self.result} {self.symbol}_in({real} *work, {own})"

    def stepped(self, real: str) -> str:
        """The arguments of a function of many states: each array and its step."""
        declared = self.declared(real).values()
        return ", ".join(f"{text}, ptrdiff_t step_{k}" for k, text in enumerate(declared))
