"""Arrays between the calls of a function, in one array on the stack: those that are not needed at once share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codegen.emission.functions import Call

APART = 16
"""Arrays start at multiples of so many reals, so that they are aligned."""

NAME = "arrays_"


@dataclass(frozen=True, slots=True)
class Storage:
    """Where arrays start in one of `size` reals."""

    starts: Mapping[str, int]
    size: int

    def __str__(self) -> str:
        return f"{len(self.starts)} arrays in {self.size} reals"

    def declarations(self, real: str, aligned: str = "") -> Iterator[str]:
        """The lines that declare them, of this type."""
        if self.starts:
            yield self.array(real, aligned)
        yield from self.places(real)

    def array(self, real: str, aligned: str = "") -> str:
        """The line that declares the one array."""
        return f"{real} {NAME}[{self.size}]{aligned};"

    def places(self, real: str) -> Iterator[str]:
        """The lines that declare where they are in the one array."""
        for name, start in self.starts.items():
            yield f"{real} *const {name} = {NAME} + {start};"


def storage(sizes: Mapping[str, int], calls: Sequence[Call]) -> Storage:
    """Storage for arrays of these sizes, each needed from the first to the last call that has it among its arguments.

    The largest come first, or those needed longest if all take less then.
    """
    lives = {name: _life(name, calls) for name in sizes}
    largest = sorted(sizes, key=lambda name: -sizes[name])
    longest = sorted(largest, key=lambda name: lives[name][0] - lives[name][1])
    return min((_placed(sizes, lives, order) for order in (largest, longest)), key=lambda own: own.size)


def _placed(sizes: Mapping[str, int], lives: Mapping[str, tuple[int, int]], order: Sequence[str]) -> Storage:
    """Storage in which each array in turn takes the first place where no other one is needed meanwhile."""
    starts = dict[str, int]()
    for name in order:
        start, others = 0, sorted((at, at + sizes[x]) for x, at in starts.items() if _meet(lives[x], lives[name]))
        for begin, end in others:
            if start + sizes[name] <= begin:
                break
            start = max(start, -(-end // APART) * APART)
        starts[name] = start
    size = max((start + sizes[name] for name, start in starts.items()), default=0)
    return Storage({name: starts[name] for name in sizes}, size)


def _life(name: str, calls: Sequence[Call]) -> tuple[int, int]:
    """The first and the last call at which an array is needed."""
    having = [k for k, call in enumerate(calls) if name in call.arguments]
    return having[0], having[-1]


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
