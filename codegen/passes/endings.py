"""What ends a value's life is done as soon as it can be, so that fewer values have to be kept at a time.

Everything else stays in its order. A product and the sum that alone uses it are one step, as they are to processors
that multiply and add at once. Few values are left as they are: they fit into registers, and the longest path counts.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from codegen.graph import Graph
from codegen.operations import CONST, INPUT
from codegen.passes.angles import in_front, pairs, reordered

if TYPE_CHECKING:
    from collections.abc import Sequence

_FEW = 100
"""So many values at a time are few."""

_LEAF = (CONST, INPUT)


def end_early(graph: Graph) -> Graph:
    """The same values in another order; angles that stand in front stay there."""
    return reordered(graph, early_ends(graph, range(len(graph.values))))


def early_ends(graph: Graph, order: Sequence[int]) -> list[int]:
    """That order, made from another one."""
    if most_alive(graph, order) <= _FEW:
        return list(order)
    steps = _steps(graph, order)
    number = {index: k for k, step in enumerate(steps) for index in step}
    needs = [
        list({number[arg] for index in step for arg in graph.values[index].args if number.get(arg, k) != k})
        for k, step in enumerate(steps)
    ]
    moved = [index for k in _eager(needs) for index in steps[k]]
    return [index for index in order if index not in number] + moved


def most_alive(graph: Graph, order: Sequence[int]) -> int:
    """The most values that have been made and are still needed at a time, in some order."""
    last = {arg: at for at, index in enumerate(order) for arg in graph.values[index].args}
    ending = [0] * len(order)
    alive = most = 0
    for at, index in enumerate(order):
        if index in last and graph.values[index].op not in _LEAF:
            alive += 1
            ending[last[index]] += 1
        alive -= ending[at]
        most = max(most, alive)
    return most


def _steps(graph: Graph, order: Sequence[int]) -> list[list[int]]:
    """What is done at once, in order: values by themselves, products with their sums, and late angles in pairs."""
    values, uses, fixed = graph.values, graph.uses(), set(in_front(graph))
    fixed.update(index for index, value in enumerate(values) if value.op in _LEAF)
    joined = {member: members for members in pairs(graph).values() for member in members}
    for index, value in enumerate(values):
        if value.op in ("add", "sub"):
            products = [arg for arg in value.args if values[arg].op == "mul" and uses[arg] == 1 and arg not in fixed]
            if products:
                joined[index] = joined[products[-1]] = [products[-1], index]
    found = ((index, joined.get(index, [index])) for index in order if index not in fixed)
    return [step for index, step in found if index == step[-1]]


def _eager(needs: Sequence[Sequence[int]]) -> list[int]:
    """Steps in order, given the earlier ones that each needs, but what ends a life as soon as it can be done."""
    users: list[list[int]] = [[] for _ in needs]
    for step, needed in enumerate(needs):
        for arg in needed:
            users[arg].append(step)
    left, missing = [len(own) for own in users], [len(own) for own in needs]
    ends = [sum([left[arg] == 1 for arg in needed]) for needed in needs]
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
