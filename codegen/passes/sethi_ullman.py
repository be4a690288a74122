"""Scheduling after Sethi and Ullman: every value right before its first use, so that few are live at a time.

Depth first from the results, of two operands the one that needs more registers first (Sethi and Ullman, The generation
of optimal code for arithmetic expressions, 1970, read on a graph as on a tree). Results are walked in order or in
reverse, and equal operands from either side, whichever keeps values for least time.
"""

from __future__ import annotations

from itertools import chain, product
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.graph import Graph
from codegen.ir.operations import CONST, INPUT
from codegen.passes.angles import in_front, pairs, reordered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


def sethi_ullman(graph: Graph) -> Graph:
    """The same values in another order; angles that stand in front stay there."""
    return reordered(graph, short_lived(graph))


def short_lived(graph: Graph) -> list[int]:
    """That order."""
    front, needs = in_front(graph), _registers(graph)
    results = list(dict.fromkeys(index for result in graph.results for index in result))
    together = {member: members for members in pairs(graph).values() for member in members}
    operands = [value.args for value in graph.values]
    ways = product((results, results[::-1]), (False, True))
    orders = [_depth_first(operands, needs, together, front, roots, mirrored) for roots, mirrored in ways]
    users = np.repeat(np.arange(len(operands)), [len(args) for args in operands])
    uses = np.fromiter(chain.from_iterable(operands), np.int64, len(users))
    return min(orders, key=lambda order: _kept(order, uses, users))


def _kept(order: Sequence[int], uses: NDArray[np.int64], users: NDArray[np.int64]) -> int:
    """For how many values' time all values together are kept in some order, of `uses` each by one of the `users`."""
    place = np.empty(len(order), np.int64)
    place[np.array(order, np.int64)] = np.arange(len(order))
    last = place.copy()
    np.maximum.at(last, uses, place[users])
    return int((last - place).sum())


def _depth_first(
    operands: Sequence[tuple[int, ...]],
    needs: Sequence[int],
    together: Mapping[int, Sequence[int]],
    front: Sequence[int],
    roots: Sequence[int],
    mirrored: bool,
) -> list[int]:
    """All values: those in front, then what each root depends on, right before it; some come `together`."""
    placed = [False] * len(operands)
    order = list(front)
    for index in front:
        placed[index] = True
    waiting = list(reversed(roots))
    while waiting:
        index = waiting.pop()
        if index < 0:  # its turn again: what it needs is there
            index = ~index
        elif placed[index]:
            continue
        elif open_ := [arg for arg in operands[index] if not placed[arg]]:
            if len(open_) == 2 and needs[open_[0]] + mirrored > needs[open_[1]]:
                open_.reverse()
            waiting.append(~index)
            waiting += open_
            continue
        for member in together.get(index, (index,)):
            placed[member] = True
            order.append(member)
    return order + [index for index, done in enumerate(placed) if not done]


def _registers(graph: Graph) -> list[int]:
    """How many registers the tree below each value wants."""
    needs: list[int] = []
    for op, args, *_ in graph.values:
        if op in (CONST, INPUT):
            needs.append(0)
        elif len(args) == 2:
            first, second = needs[args[0]], needs[args[1]]
            needs.append(max(first, second, 1) if first != second else first + 1)
        else:
            most = sorted([needs[arg] for arg in args], reverse=True)
            needs.append(max(1, *[need + kept for kept, need in enumerate(most)]))
    return needs
