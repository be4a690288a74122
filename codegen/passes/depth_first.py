"""Scheduling depth first from the results: every value right before its first use, so that values live for short times.

Of two operands the one whose tree wants more registers comes first (Sethi and Ullman, The generation of optimal code
for arithmetic expressions, 1970); among equals either may. Results are walked in the order in which they are written,
from either end. Where values then wait for long to be read, when no register holds them any more, matrices are walked
by columns, or pair by pair of a row and a column.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from codegen.ir.graph import Graph
from codegen.ir.operations import CONST, INPUT
from codegen.passes.angles import in_front, pairs, reordered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_MAGNITUDES = 2 ** np.arange(1, 40)

_SAVED = 0.06
"""Part of the waiting that another order than that of writing has to save."""


def depth_first(graph: Graph) -> Graph:
    """The same values in another order; angles that stand in front stay there."""
    return reordered(graph, short_lived(graph))


def short_lived(graph: Graph) -> list[int]:
    """That order."""
    front, needs, operands = in_front(graph), _registers(graph), [value.args for value in graph.values]
    together = {member: members for members in pairs(graph).values() for member in members}
    written = list(dict.fromkeys(chain.from_iterable(graph.results)))
    walks = (written, written[::-1], _sorted(graph, _column)[::-1], _sorted(graph, _pair))
    users = np.repeat(np.arange(len(operands)), [len(args) for args in operands])
    uses = np.fromiter(chain.from_iterable(operands), np.int64, len(users))
    made = np.array([value.op not in (CONST, INPUT) for value in graph.values], bool)
    orders = [_walked(operands, needs, together, front, walk, last=False) for walk in walks]
    waits = [_waits(order, uses[made[uses]], users[made[uses]]) for order in orders]
    best, usual = waits.index(min(waits)), waits.index(min(waits[:2]))
    taken = best if waits[best] <= (1 - _SAVED) * waits[usual] else usual
    other = _walked(operands, needs, together, front, walks[taken], last=True)
    return min(orders[taken], other, key=lambda order: _waits(order, uses[made[uses]], users[made[uses]]))


def _column(port: int, row: int, column: int) -> tuple[int, ...]:
    """Columns one after the other, those of all matrices in turn."""
    return (column, port, row)


def _pair(port: int, row: int, column: int) -> tuple[int, ...]:
    """Pairs of a row and a column by the greater number of each, from the last one on.

    Where rows and columns are joints, what an outer joint transmits is followed towards the root: above the diagonal
    matrix by matrix, below it through all matrices at once.
    """
    outer, inner = max(row, column), min(row, column)
    return (-outer, 0, port, -inner) if row < column else (-outer, 1, -inner, port)


def _sorted(graph: Graph, key: Callable[[int, int, int], tuple[int, ...]]) -> list[int]:
    """The results by their matrices' numbers, rows and columns; what stands at several places goes by the last."""
    last: dict[int, tuple[int, ...]] = {}
    for number, (port, result) in enumerate(zip(graph.outputs, graph.results, strict=True)):
        across = port.shape[1] if len(port.shape) == 2 else 1
        for place, index in enumerate(result):
            own = key(number, place // across, place % across)
            last[index] = max(own, last.get(index, own))
    return sorted(last, key=last.__getitem__)


def _waits(order: Sequence[int], uses: NDArray[np.int64], users: NDArray[np.int64]) -> int:
    """How long values wait to be read since they were made or read before, the binary logarithms of all steps in sum.

    Values come in some order, of `uses` each by one of the `users`.
    """
    place = np.empty(len(order), np.int64)
    place[np.array(order, np.int64)] = np.arange(len(order))
    read = np.unique(uses)
    values, touched = np.concatenate([read, uses]), np.concatenate([place[read], place[users]])
    by_value = np.lexsort((touched, values))
    same, steps = np.diff(values[by_value]) == 0, np.diff(touched[by_value])
    return int(np.searchsorted(_MAGNITUDES, steps[same], side="right").sum())


def _walked(
    operands: Sequence[tuple[int, ...]],
    needs: Sequence[int],
    together: Mapping[int, Sequence[int]],
    front: Sequence[int],
    roots: Sequence[int],
    last: bool,
) -> list[int]:
    """All values: those in front, then what each root depends on, right before it; some come `together`.

    Of equal operands the first comes first or the last.
    """
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
            if len(open_) == 2 and needs[open_[0]] >= needs[open_[1]] + last:
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
