"""Stack use of the C functions of a kernel, at most, computed from their text.

A compiler may spill any value that is alive, keep the numbers of the text on the stack, and move statements so that
more values are alive at once than in the order of the text. The bound allows for half as many again, for every number
and for all arrays. GCC and clang stay below it at -O2; as nobody promises that, tests measure what they take. What the
C library takes (of sines beyond 1e5 rad, or of all with trig="libm") comes on top.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from codegen.emission.blocks import EIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CALLS = 512
"""Bytes of saved registers, return addresses and alignment in all functions of a call, on x86-64, aarch64 and ARM."""

ROUND = 3 * 16
"""Doubles that every lane keeps while angles are reduced (see `angles.jinja`), and as many that become sines."""

WIDTHS = {"P2": 2, "P4": 4}
"""Reals of small vectors."""

_MADE = re.compile(r"const (T|P2|P4|double|float) (\w+) = ")
_NAME = re.compile(r"[A-Za-z]\w*")
_NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?")
_ANGLES = re.compile(r"_angles\(.*_BLOCKS\((\d+)\)\);")


def stack(functions: Sequence[tuple[str, ...]], kept: int, real: int, lanes: int = 1) -> int:
    """Bytes that a call of functions of these lines takes at most, on reals of so many bytes in so many lanes.

    `kept` are the reals of the workspace, of every lane, if it is on the stack.
    """
    own = max(_frame(lines).reals(lanes) for lines in functions)
    angles = 2 * ROUND * 8 if lanes > 1 else 0
    moved = 4 * lanes * real  # of every lane, while states are gathered and scattered
    total = CALLS + lanes * (kept * real + angles + (moved if lanes > 1 else 0)) + own * real
    return -(-total // 64) * 64


@dataclass(frozen=True, slots=True)
class _Frame:
    """What one function has on the stack: numbers, reals in arrays of angles, and what is alive at once.

    `wide` are the reals of its small vectors, if it has some. `alive` are pairs: single values, and reals in vectors.
    """

    numbers: int
    wide: int
    angles: int
    alive: frozenset[tuple[int, int]]

    def __str__(self) -> str:
        return f"{self.numbers} numbers, {self.reals(1)} reals"

    def reals(self, lanes: int) -> int:
        """Reals on the stack, at most."""
        most = max(single * lanes + vectors for single, vectors in self.alive)
        return 3 * most // 2 + self.numbers * (self.wide or lanes) + self.angles * lanes


@lru_cache(maxsize=512)
def _frame(lines: tuple[str, ...]) -> _Frame:
    """That of a function of these lines; it is asked for several times, and takes as long as writing the lines."""
    text = "\n".join(lines)
    wide = next((WIDTHS[name] for name in ("P4", "P2") if f"const {name} " in text), 0)
    numbers = len(set(_NUMBER.findall(text)))
    angles = sum(3 * -(-int(count) // EIGHT) * EIGHT for count in _ANGLES.findall(text))
    return _Frame(numbers, wide, angles, frozenset(_alive(lines)))


def _alive(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Single values and reals in small vectors that are alive at once, line by line in the order of the text."""
    made = {found[2]: (k, WIDTHS.get(found[1], 0)) for k, line in enumerate(lines) if (found := _MADE.match(line))}
    last = {name: k for k, line in enumerate(lines) for name in _NAME.findall(line)}
    singles, vectors = [0] * (len(lines) + 1), [0] * (len(lines) + 1)
    for name, (k, width) in made.items():
        change, size = (vectors, width) if width else (singles, 1)
        change[k] += size
        change[last.get(name, k)] -= size
    return zip(accumulate(singles), accumulate(vectors), strict=True)
