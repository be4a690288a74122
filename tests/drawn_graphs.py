"""Graphs drawn at random, apart from others: child processes of tests need no Hypothesis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from codegen.ir.graph import Graph, Port, Value
from codegen.ir.operations import CONST, INPUT, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn

# The sign of a zero, which passes may change, decides these; and NumPy's power rounds differently from x*x.
DISCONTINUOUS = {"copysign", "atan2", "pow", "remainder", "fmod", "sign"}
SMOOTH = tuple(sorted(set(OPERATIONS) - DISCONTINUOUS))
PRODUCTS = ("mul", "div", "inv", "neg", "sq", "fabs", "twice")

_CONSTANTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.25, 3.0, 0.1, -7.3)


@st.composite
def graphs(draw: DrawFn, operations: Sequence[str] = SMOOTH, longest: int = 25) -> Graph:
    """A graph of x[3] with a few constants, random operations on them, and up to four results."""
    values = [Value(INPUT, port=0, element=k) for k in range(3)]
    numbers = draw(st.lists(st.sampled_from(_CONSTANTS), max_size=4))
    values += [Value(CONST, constant=number) for number in numbers]
    for name in draw(st.lists(st.sampled_from(operations), min_size=1, max_size=longest)):
        arity = OPERATIONS[name].arity
        # Mostly recent values, so that chains grow long enough for the rules to meet.
        places = st.integers(0, len(values) - 1) | st.integers(max(0, len(values) - 4), len(values) - 1)
        values.append(Value(name, tuple(draw(places) for _ in range(arity))))
    last = len(values) - 1
    result = tuple(draw(st.lists(st.integers(max(0, last - 5), last), min_size=1, max_size=4)))
    return Graph("random", (Port("x", (3,)),), (Port("y", (len(result),)),), tuple(values), (result,))
