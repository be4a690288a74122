"""Which link of a robot that floats is called its base: what contacts feel of one another does not depend on that.

A joint is the same seen from either of its links, so any link that hinges and slides lead to may float in place of the
base. Unit forces of contacts pass the joints between them and the base. It goes where they pass fewest; and onto a link
whose hinges meet at right angles, if that is as near, for these leave zeros there (`codegen.basing`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from codegen.basing import PAIR, first_row, second_row
from codegen.frames import SINGLE_AXIS
from codegen.geometry import Pose, clean, times, vec3

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from codegen.model import Body, Contact, Model

COLUMNS = 5  # forces that a hinge transmits
PASS = 27  # operations of a unit force at a joint


class Hinge(NamedTuple):
    """A hinge of a link: a point of its axis and its direction in the link, and the unit forces that come through."""

    point: NDArray[np.float64]
    axis: NDArray[np.float64]
    columns: int


def rerooted(model: Model, contacts: Sequence[Contact], unit_forces: bool = True) -> Model:
    """The robot with its base where contacts cost least: joints keep their coordinates, bodies change their order.

    What costs is the way of unit forces to the base, or without `unit_forces` every joint on it. The base stays where
    contacts are held along the world's axes, and where loops know the axes of what carries them.
    """
    if any(contact.axes == "world" for contact in contacts) or not all(loop.explicit for loop in model.loops):
        return model
    held = Counter[str]()
    for contact in contacts:
        held[model.bodies[model.frame(contact.frame.name).body].name] += len(contact.rows)
    for name in [body.name for body in model.bodies if body.parent < 0 and body.joint.type == "floating"]:
        base = next(b for b, body in enumerate(model.bodies) if body.name == name)
        columns = [min(held[body.name], COLUMNS) for body in model.bodies]
        root = _cheapest(model, base, columns, unit_forces)
        model = model if root == base else hung_on(model, root)
    return model


def _cheapest(model: Model, base: int, columns: Sequence[int], unit_forces: bool) -> int:
    """The body that costs least as the base: the nearest of these; the base itself if more than two limbs are alike."""
    bodies, alone = model.bodies, {node.bodies[0] for node in model.nodes if len(node.bodies) == 1}
    size, beyond, reached = [1] * len(bodies), list(columns), list[int]()
    # leaves to root: how much hangs on each body, and the unit forces that come from there
    for b in reversed(range(len(bodies))):
        if bodies[b].parent >= 0:
            size[bodies[b].parent] += size[b]
            beyond[bodies[b].parent] += beyond[b]
    # root to leaves: bodies that might float
    for b, body in enumerate(bodies):
        movable = body.parent in reached and body.joint.type in SINGLE_AXIS and beyond[b]
        if b in alone and (movable or (b == base and not body.joint.armature)):
            reached.append(b)
    limbs = Counter((size[b], beyond[b]) for b, body in enumerate(bodies) if body.parent == base and beyond[b])
    if not reached or max(limbs.values(), default=0) > PAIR:
        return base
    within = {r: frozenset(_carriers(bodies, r)) for r in reached}
    passed = [b for b in range(len(bodies)) if beyond[b] and base in _carriers(bodies, b)[1:]]

    def cost(r: int) -> int:
        """Operations of the unit forces on their way to r, and there."""
        ways = [(bodies[b].parent, beyond[base] - beyond[b]) if b in within[r] else (b, beyond[b]) for b in passed]
        if not unit_forces:
            return sum(c > 0 for _, c in ways)
        there = _saved(tuple(_hinges(model, r, base, beyond, alone)), beyond[base])
        return sum((PASS + c) * c for end, c in ways if c > columns[end]) - there

    return min(reached, key=lambda r: (cost(r), len(within[r])))


def _hinges(model: Model, r: int, base: int, beyond: Sequence[int], alone: Iterable[int]) -> Iterable[Hinge]:
    """The hinges of body r through which unit forces come."""
    for b, body in enumerate(model.bodies):
        plain = body.joint.type == "revolute" and b in alone and not body.joint.armature
        axis = np.array(body.joint.axis)
        if plain and body.parent == r and beyond[b]:
            yield Hinge(body.placement.p, times(body.placement.R, axis), beyond[b])
        if plain and b == r and beyond[base] > beyond[r]:
            yield Hinge(np.zeros(3), axis, beyond[base] - beyond[r])


def _saved(hinges: Sequence[Hinge], m: int) -> int:
    """What zeros among the base's motions save: in the first row of one hinge, in the second of one that meets it."""

    def second(first: Hinge, other: Hinge) -> int:
        apart = np.cross(first.axis, other.axis) @ (other.point - first.point)
        return 0 if clean(np.array([first.axis @ other.axis, apart])).any() else second_row(other.columns)

    alone = [first_row(hinge.columns, m) for hinge in hinges]
    pairs = permutations(range(len(hinges)), 2)
    return max([0, *alone, *(alone[a] + second(hinges[a], hinges[b]) for a, b in pairs)])


def _carriers(bodies: Sequence[Body], b: int) -> list[int]:
    """Body b and those that carry it."""
    found = []
    while b >= 0:
        found.append(b)
        b = bodies[b].parent
    return found


def hung_on(model: Model, root: int) -> Model:
    """The robot as it hangs on body `root`, which floats in place of its base.

    A body that now hangs on one that it carried has its frame where their joint is, and turns the other way.
    """
    bodies = model.bodies
    path = _carriers(bodies, root)
    below = dict(zip(path[1:], path, strict=False))
    moves = {b: bodies[c].placement for b, c in below.items()}

    def parent(b: int) -> int:
        return -1 if b == root else below.get(b, bodies[b].parent)

    def hung(b: int) -> Body:
        body, back = bodies[b], moves.get(b, Pose()).inverse()
        joint, placement = body.joint, moves.get(body.parent, Pose()).inverse() @ body.placement
        if b == root:
            joint, placement = bodies[path[-1]].joint, bodies[path[-1]].placement
        elif b in below:
            turned = bodies[below[b]].joint
            joint, placement = replace(turned, axis=vec3(-np.array(turned.axis))), moves.get(below[b], Pose()).inverse()
        return replace(
            body, joint=joint, placement=placement, inertia=body.inertia.moved(back) if b in below else body.inertia
        )

    own = {b: n for n, node in enumerate(model.nodes) for b in node.bodies}
    nodes = _depth_first([own.get(parent(node.bodies[0]), -1) for node in model.nodes])
    order = [b for n in nodes for b in model.nodes[n].bodies]
    place, at = {b: n for n, b in enumerate(order)} | {-1: -1}, {n: k for k, n in enumerate(nodes)} | {-1: -1}
    return replace(
        model,
        bodies=tuple(replace(hung(b), parent=place[parent(b)]) for b in order),
        nodes=tuple(
            replace(node, bodies=tuple(place[b] for b in node.bodies), parent=at[own.get(parent(node.bodies[0]), -1)])
            for node in (model.nodes[n] for n in nodes)
        ),
        frames=tuple(
            replace(frame, body=place[frame.body], placement=moves.get(frame.body, Pose()).inverse() @ frame.placement)
            for frame in model.frames
        ),
    )


def _depth_first(parents: Sequence[int]) -> list[int]:
    """An order of nodes, given by their parents: each is followed by all that it carries."""
    found, waiting = list[int](), [n for n in reversed(range(len(parents))) if parents[n] < 0]
    while waiting:
        found.append(waiting.pop())
        waiting += [n for n in reversed(range(len(parents))) if parents[n] == found[-1]]
    return found
