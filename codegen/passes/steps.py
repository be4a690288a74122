"""Instructions that scheduling keeps together: multiply-adds, sine and cosine of one angle; all else alone.

What belongs in front (`codegen.passes.angles`), constants and inputs are no steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.ir.operations import CONST, INPUT
from codegen.passes.angles import in_front, pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codegen.ir.graph import Graph

_LEAF = (CONST, INPUT)


@dataclass(frozen=True, slots=True)
class Steps:
    """The values of every step, and the earlier steps that it needs; `others` are the values of no step, in order."""

    members: tuple[list[int], ...]
    needs: tuple[list[int], ...]
    others: tuple[int, ...]

    @property
    def users(self) -> list[list[int]]:
        """By steps: those that need it."""
        users: list[list[int]] = [[] for _ in self.members]
        for step, needed in enumerate(self.needs):
            for arg in needed:
                users[arg].append(step)
        return users

    def values(self, order: Iterable[int]) -> list[int]:
        """The values of all steps in some order, after those of no step."""
        return [*self.others, *(index for step in order for index in self.members[step])]


def steps_of(graph: Graph, order: Sequence[int]) -> Steps:
    """The steps of a graph whose values come in some order."""
    values, fixed = graph.values, set(in_front(graph))
    fixed.update(index for index, value in enumerate(values) if value.op in _LEAF)
    joined = _joined(graph, fixed)
    found = ((index, joined.get(index, [index])) for index in order if index not in fixed)
    members = [step for index, step in found if index == step[-1]]
    number = {index: k for k, step in enumerate(members) for index in step}
    needs = [
        list({number[arg] for index in step for arg in values[index].args if number.get(arg, k) != k})
        for k, step in enumerate(members)
    ]
    return Steps(tuple(members), tuple(needs), tuple(index for index in order if index not in number))


def _joined(graph: Graph, fixed: set[int]) -> dict[int, list[int]]:
    """By values that share a step with another one: the step's values; products that are fixed join no sum."""
    values, uses = graph.values, graph.uses()
    joined = {member: members for members in pairs(graph).values() for member in members}
    for index, value in enumerate(values):
        if value.op in ("add", "sub"):
            products = [arg for arg in value.args if values[arg].op == "mul" and uses[arg] == 1 and arg not in fixed]
            if products:
                joined[index] = joined[products[-1]] = [products[-1], index]
    return joined


def lives_ended(needed: Sequence[int], left: Sequence[int]) -> int:
    """How many lives a step ends that needs these; `left` are, by steps, the users still to come."""
    return sum([left[arg] == 1 for arg in needed])


def most_alive(graph: Graph, order: Sequence[int]) -> int:
    """The most values that have been made and are still needed at a time, in some order."""
    values, last, ending = graph.values, [-1] * len(order), [0] * len(order)
    for at, index in enumerate(order):
        for arg in values[index][1]:
            last[arg] = at
    alive = most = 0
    for at, index in enumerate(order):
        if last[index] >= 0 and values[index][0] not in _LEAF:
            alive += 1
            ending[last[index]] += 1
            most = max(most, alive - ending[at])
        alive -= ending[at]
    return most
