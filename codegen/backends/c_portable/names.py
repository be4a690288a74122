"""What the values of a graph are called: after the joints and arguments that they belong to where that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.emission.blocks import PAIR
from codegen.emission.kernels import owners
from codegen.ir.names import RESERVED, identifier
from codegen.ir.operations import CONST, INPUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.backends.c_portable.spelling import Words
    from codegen.emission.functions import Argument
    from codegen.emission.spec import Header, JointRow
    from codegen.ir.graph import Graph

LONGEST = 63
"""So many characters of a name count in C99."""


class _Free:
    """Names that are not taken yet."""

    def __init__(self, taken: Sequence[str]) -> None:
        self.taken = {*taken, *RESERVED}

    def name(self, wanted: str) -> str:
        """The wanted name, with a number behind it if it is taken."""
        name, number = wanted, 1
        while name in self.taken:
            number += 1
            name = f"{wanted}_{number}"
        self.taken.add(name)
        return name


def names(graph: Graph, header: Header, given: Sequence[Argument], words: Words) -> tuple[str, ...]:
    """By values: literals for constants, names of variables for all others; equal inputs have one name.

    `q_JOINT` is an element of the argument q, `s_JOINT` and `c_JOINT` are the sine and the cosine of such an angle,
    `s4` and `c4` those of a computed one, `tau_JOINT` or `M_0_1` a result; what is left is numbered, t0, t1 and on.
    """
    labels = _labels(header, given)
    free = _Free([a.name for a in given] + ["w", "k"])
    inputs = {(v.port, v.element): "" for v in graph.values if v.op == INPUT}
    for place in sorted(inputs):
        inputs[place] = free.name(labels[place])
    results = _results(graph)
    found: list[str] = []
    number = 0
    for index, value in enumerate(graph.values):
        if value.op == CONST:
            found.append(words.literal(value.constant))
        elif value.op == INPUT:
            found.append(inputs[value.port, value.element])
        elif value.op in PAIR:
            angle = value.args[0]
            own = graph.values[angle].op == INPUT
            found.append(free.name(_sine(value.op, found[angle], own)))
        elif index in results:
            found.append(free.name(labels[results[index]]))
        else:
            found.append(free.name(f"t{number}"))
            number += 1
    return tuple(found)


def _sine(op: str, angle: str, known: bool) -> str:
    """The name of the sine or cosine of an angle with this name; `known` if that is an argument's."""
    return f"{op[0]}_{angle.removeprefix('q_')}" if known or not angle[1:].isdigit() else f"{op[0]}{angle[1:]}"


def _results(graph: Graph) -> dict[int, tuple[int, int]]:
    """By values: the first place among the arguments where they are stored."""
    found: dict[int, tuple[int, int]] = {}
    for number, result in enumerate(graph.results, start=len(graph.inputs)):
        for element, index in enumerate(result):
            found.setdefault(index, (number, element))
    return found


def _labels(header: Header, given: Sequence[Argument]) -> dict[tuple[int, int], str]:
    """By argument and element: what it is called as a variable."""
    owned = owners(header, [a.port for a in given])
    return {
        (k, element): _label(argument, element, owned.get((k, element)))
        for k, argument in enumerate(given)
        for element in range(argument.port.size)
    }


def _label(argument: Argument, element: int, row: JointRow | None) -> str:
    """The argument's name with the joint's, if it has one, and where the element stands."""
    places = [int(place) for place in np.unravel_index(element, argument.port.shape or (1,))]
    if row is not None:
        first, last = row.q if argument.port.name.startswith("q") else row.v
        places = [element - first] if last - first > 1 else []
        joined = "_".join([argument.name, identifier(row.name).rstrip("_"), *map(str, places)])
        if len(joined) <= LONGEST - 2:
            return joined
        places = [element]
    return "_".join([argument.name, *map(str, places)])
