"""Compiler flags of the generated C: what every build of it wants."""

from __future__ import annotations

# Statements have too little in common for SLP vectorisation: it costs time and gains nothing. The loop that is
# worth vectorising is that of sines and cosines.
FLAGS = (
    "-O2",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
    "-ftree-vectorize",
    "-fno-tree-slp-vectorize",
)

OPTIONS = tuple(flag.removeprefix("-f") for flag in FLAGS if flag.startswith("-f"))
"""The same in the words of a GCC pragma: emitted sources set for themselves what they want beyond -O2."""
