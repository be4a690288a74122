"""Which bodies form one node: bodies tied by loops, with all that lies between them in the tree."""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.model import Node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.model import Model


def between(parents: Sequence[int], tied: Sequence[int]) -> set[int]:
    """The tied bodies and all bodies on the paths up from them to the body that carries them all."""
    hub = parents[tied[0]]
    for body in tied[1:]:
        hub = _common(parents, hub, parents[body])
    found: set[int] = set()
    for body in tied:
        at = body
        while at != hub and at not in found:
            found.add(at)
            at = parents[at]
    return found


def _common(parents: Sequence[int], a: int, b: int) -> int:
    """The nearest common ancestor of two bodies numbered parents first (-1: the world)."""
    while a != b:
        if a > b:
            a = parents[a]
        else:
            b = parents[b]
    return a


def nodes(
    parents: Sequence[int], ties: Sequence[Sequence[int]], rank: Sequence[int]
) -> tuple[list[int], tuple[Node, ...]]:
    """The new order of the bodies (as old numbers) and the nodes, in new numbers.

    `ties` lists the bodies tied by each loop. Nodes come depth first, the bodies of one node together;
    inside a node, `rank` orders bodies as far as parents-first allows.
    """
    owner = _owners(parents, ties)
    members: dict[int, list[int]] = {}
    for body, node in enumerate(owner):
        members.setdefault(node, []).append(body)
    order, sequence = [], []
    for node in _depth_first(parents, owner, members):
        sequence.append(node)
        order += _parents_first(members[node], parents, rank)
    new = {body: i for i, body in enumerate(order)}
    place = {node: i for i, node in enumerate(sequence)}
    loops: dict[int, list[int]] = {node: [] for node in sequence}
    for i, tied in enumerate(ties):
        loops[owner[tied[0]]].append(i)
    made = []
    for node in sequence:
        hub = parents[members[node][0]]
        made.append(
            Node(
                tuple(sorted(new[body] for body in members[node])),
                -1 if hub < 0 else place[owner[hub]],
                tuple(loops[node]),
            )
        )
    return order, tuple(made)


def _owners(parents: Sequence[int], ties: Sequence[Sequence[int]]) -> list[int]:
    """For each body the smallest body of its node; overlapping ties share one node."""
    owner = list(range(len(parents)))

    def find(body: int) -> int:
        while owner[body] != body:
            owner[body] = owner[owner[body]]
            body = owner[body]
        return body

    for tied in ties:
        roots = sorted({find(body) for body in between(parents, tied)})
        for root in roots[1:]:
            owner[root] = roots[0]
    return [find(body) for body in range(len(parents))]


def _depth_first(parents: Sequence[int], owner: Sequence[int], members: dict[int, list[int]]) -> list[int]:
    children: dict[int, list[int]] = {}
    for node, bodies in members.items():
        hub = parents[bodies[0]]
        children.setdefault(-1 if hub < 0 else owner[hub], []).append(node)
    sequence, stack = [], sorted(children.get(-1, []), reverse=True)
    while stack:
        node = stack.pop()
        sequence.append(node)
        stack += sorted(children.get(node, []), reverse=True)
    return sequence


def _parents_first(bodies: Sequence[int], parents: Sequence[int], rank: Sequence[int]) -> list[int]:
    inside = set(bodies)
    children: dict[int, list[int]] = {}
    for body in bodies:
        children.setdefault(parents[body] if parents[body] in inside else -1, []).append(body)
    ready = [(rank[body], body) for body in children.get(-1, [])]
    heapq.heapify(ready)
    order = []
    while ready:
        _, body = heapq.heappop(ready)
        order.append(body)
        for child in children.get(body, []):
            heapq.heappush(ready, (rank[child], child))
    return order


def clustered(model: Model) -> Model:
    """The model with its bodies gathered into nodes, and numbered, as its loops ask for."""
    parents = [body.parent for body in model.bodies]
    number = {joint: b for b, joint in enumerate(model.joint_names)}
    ties = [[number[joint] for joint in loop.joints] for loop in model.loops]
    order, gathered = nodes(parents, ties, range(len(parents)))
    new = {old: place for place, old in enumerate(order)} | {-1: -1}
    return replace(
        model,
        bodies=tuple(replace(model.bodies[old], parent=new[parents[old]]) for old in order),
        nodes=gathered,
        frames=tuple(replace(frame, body=new[frame.body]) for frame in model.frames),
    )
