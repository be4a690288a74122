"""List scheduling by critical path: the operation with the longest path to a result comes first.

(Cooper and Torczon, Engineering a Compiler, sec. 12.3.) A processor looks ahead in the order that it is given, but not
past its window: chains that begin late, and everything after them, then wait. One step is begun every cycle; where more
values would be kept than there are registers, what ends most lives goes first. A model of a processor says what that
saves. Where it is little, and where many values are kept at a time, the order stays as it is.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from codegen.passes.angles import reordered
from codegen.passes.steps import lives_ended, most_alive, steps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.ir.graph import Graph
    from codegen.passes.steps import Steps

_MANY = 140
"""Values at a time above which keeping them costs more than waiting."""

_SAVED = 0.06
"""Part of the time that has to be saved."""

_REGISTERS = 28
_WINDOW, _BEGUN = 160, 2
"""The model: how many steps may be under way beyond the first that waits, and how many begin in a cycle."""

_CYCLES = {"div": 13, "inv": 13, "sqrt": 20, "neg": 1, "add": 3, "sub": 3, "sin": 60, "cos": 60}
_PRODUCT = 4  # cycles of a product, with or without its sum, and of what is not listed


def list_scheduling(graph: Graph) -> Graph:
    """The same values in another order; angles that stand in front stay there."""
    return reordered(graph, waited_for(graph, range(len(graph.values))))


def waited_for(graph: Graph, order: Sequence[int]) -> list[int]:
    """That order, made from another one."""
    if most_alive(graph, order) > _MANY:
        return list(order)
    steps = steps_of(graph, order)
    ops = ([graph.values[index].op for index in own] for own in steps.members)
    latency = [_PRODUCT if len(own) > 1 and "mul" in own else _CYCLES.get(own[0], _PRODUCT) for own in ops]
    listed = _listed(steps, latency)
    before, after = (cycles(steps, latency, some) for some in (range(len(latency)), listed))
    return steps.values(listed) if after <= (1 - _SAVED) * before else list(order)


def cycles(steps: Steps, latency: Sequence[int], order: Sequence[int]) -> int:
    """How long the model takes for the steps in some order."""
    ends = [0] * len(latency)
    begun: dict[int, int] = {}
    over: list[int] = []  # when all steps so far have ended
    for at, step in enumerate(order):
        free = over[at - _WINDOW] if at >= _WINDOW else 0
        start = max([free, *[ends[arg] for arg in steps.needs[step]]])
        while begun.get(start, 0) >= _BEGUN:
            start += 1
        begun[start] = begun.get(start, 0) + 1
        ends[step] = start + latency[step]
        over.append(max(ends[step], over[-1] if over else 0))
    return over[-1] if over else 0


def _listed(steps: Steps, latency: Sequence[int]) -> list[int]:
    """The steps as they become ready, by the longest path from each to a result."""
    needs, users = steps.needs, steps.users
    path = _paths(users, latency)
    missing, left, ready_at = [len(own) for own in needs], [len(own) for own in users], [0] * len(path)
    ready = sorted((-path[step], step) for step, count in enumerate(missing) if not count)
    later: list[tuple[int, int]] = []
    order: list[int] = []
    cycle = alive = 0
    while ready or later:
        while later and (later[0][0] <= cycle or not ready):
            at, step = heappop(later)
            cycle = max(cycle, at)
            heappush(ready, (-path[step], step))
        step = _take_freeing(ready, needs, left) if alive > _REGISTERS else heappop(ready)[1]
        order.append(step)
        alive += bool(users[step])
        for arg in needs[step]:
            left[arg] -= 1
            alive -= not left[arg]
        for user in users[step]:
            missing[user] -= 1
            ready_at[user] = max(ready_at[user], cycle + latency[step])
            if not missing[user]:
                heappush(later, (ready_at[user], user))
        cycle += 1
    return order


def _paths(users: Sequence[Sequence[int]], latency: Sequence[int]) -> list[int]:
    """By steps: the cycles of the longest path from each to a result, its own included."""
    path = list(latency)
    for step in reversed(range(len(path))):
        path[step] += max([path[user] for user in users[step]], default=0)
    return path


def _take_freeing(ready: list[tuple[int, int]], needs: Sequence[Sequence[int]], left: Sequence[int]) -> int:
    """Take out of the steps that are ready the one that ends most lives, among equals the first."""
    taken = min([(-lives_ended(needs[own[1]], left), own) for own in ready])[1]
    ready.remove(taken)
    heapify(ready)
    return taken[1]
