"""Stack use of the C functions of a kernel, at most, computed from their text.

A compiler may spill any value that is alive, keep the numbers of the text on the stack, and move statements so that
more values are alive at once than in the order of the text. The bound allows for half as many again, for every number
and for all arrays. GCC and clang stay below it at -O2; as nobody promises that, tests measure what they take. What the
C library takes (of sines beyond 1e5 rad, or of all with trig="libm") comes on top.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

from codegen.emission.blocks import EIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

CALLS = 512
"""Bytes of saved registers, return addresses and alignment in all functions of a call, on x86-64, aarch64 and ARM."""

ROUND = 3 * 16
"""Doubles that every lane keeps while angles are reduced (see `angles.jinja`), and as many that become sines."""

WIDTHS = {"P2": 2, "P4": 4}
"""Reals of small vectors."""

_MADE = re.compile(r"const (T|P2|P4|double|float) (\w+) = ")
_NAME = re.compile(r"\b[A-Za-z]\w*\b")
_NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?")
_ANGLES = re.compile(r"_angles\(.*_BLOCKS\((\d+)\)\);")


def stack(functions: Sequence[Sequence[str]], kept: int, real: int, lanes: int = 1) -> int:
    """Bytes that a call of functions of these lines takes at most, on reals of so many bytes in so many lanes.

    `kept` are the reals of the workspace, of every lane, if it is on the stack.
    """
    own = max(_reals(lines, lanes) for lines in functions)
    angles = 2 * ROUND * 8 if lanes > 1 else 0
    moved = 4 * lanes * real  # of every lane, while states are gathered and scattered
    total = CALLS + lanes * (kept * real + angles + (moved if lanes > 1 else 0)) + own * real
    return -(-total // 64) * 64


def _reals(lines: Sequence[str], lanes: int) -> int:
    """Reals on the stack of one function: of values alive, numbers and arrays of angles."""
    text = "\n".join(lines)
    wide = next((WIDTHS[name] for name in ("P4", "P2") if f"const {name} " in text), lanes)
    numbers = len(set(_NUMBER.findall(text)))
    angles = sum(3 * -(-int(count) // EIGHT) * EIGHT for count in _ANGLES.findall(text))
    return 3 * _alive(lines, lanes) // 2 + numbers * wide + angles * lanes


def _alive(lines: Sequence[str], lanes: int) -> int:
    """Reals of the variables that are alive at once, at most, in the order of the text."""
    made = {found[2]: (k, WIDTHS.get(found[1], lanes)) for k, line in enumerate(lines) if (found := _MADE.match(line))}
    last = {name: k for k, line in enumerate(lines) for name in _NAME.findall(line)}
    change = [0] * (len(lines) + 1)
    for name, (k, size) in made.items():
        change[k] += size
        change[last.get(name, k)] -= size
    return max(accumulate(change))
