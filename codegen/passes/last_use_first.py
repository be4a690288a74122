"""Scheduling by last use: what ends a value's life is done as soon as it can be, so that fewer are live at a time.

Everything else stays in its order. Few values are left as they are: they fit into registers, and the longest path
counts (`codegen.passes.list_scheduling`).
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from codegen.passes.angles import reordered
from codegen.passes.steps import lives_ended, most_alive, steps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Graph
    from codegen.passes.steps import Steps

_FEW = 100
"""So many values at a time are few."""


def last_use_first(graph: Graph) -> Graph:
    """The same values in another order; angles that stand in front stay there."""
    return reordered(graph, early_ends(graph, range(len(graph.values))))


def early_ends(graph: Graph, order: Sequence[int]) -> list[int]:
    """That order, made from another one."""
    if most_alive(graph, order) <= _FEW:
        return list(order)
    steps = steps_of(graph, order)
    return steps.values(_eager(steps))


def _eager(steps: Steps) -> list[int]:
    """The steps in order, but what ends a life as soon as it can be done."""
    needs, users = steps.needs, steps.users
    left, missing = [len(own) for own in users], [len(own) for own in needs]
    ends = [lives_ended(needed, left) for needed in needs]
    done = [False] * len(needs)
    order: list[int] = []
    waiting: list[tuple[int, int, int]] = []
    for first in range(len(needs)):
        heappush(waiting, (0, 0, first))
        while waiting:
            step = heappop(waiting)[2]
            if done[step]:
                continue
            done[step] = True
            order.append(step)
            for arg in needs[step]:
                left[arg] -= 1
                if left[arg] == 1:
                    user = next(user for user in users[arg] if not done[user])
                    ends[user] += 1
                    if not missing[user]:
                        heappush(waiting, (-ends[user], -len(order), user))
            for user in users[step]:
                missing[user] -= 1
                if ends[user] and not missing[user]:
                    heappush(waiting, (-ends[user], -len(order), user))
    return order
