"""Limb symmetry: which limbs of a robot have the same shape, and what of a function's inputs belongs to each.

Limbs are subtrees on one body whose joints are of the same types in the same order; as many as are a power of two (at
most four) make a group.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

from codegen.algorithms import QUANTITIES
from codegen.tracing.directional import axes, signature

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codegen.model import Model
    from codegen.tracing.task import Task

    Shape = tuple[object, ...]
    Roles = dict[tuple[str, int], tuple[int, int, object]]

_MOST = 4


def limbs(task: Task, given: Mapping[str, str] | None = None) -> tuple[Roles, ...]:
    """By input elements (port name, place): group of limbs, limb, and role in the limb.

    `given` are the names of inputs, and of the quantities that they are, if they are not those of the task. Where limbs
    of one shape are held in different ways, there are two such maps: one whose groups are held alike, and one that does
    not ask.
    """
    owners = _owners_of(task)
    along = axes(task)
    shapes = {port.name: along.get(port.name, ()) for port in signature(task)[0]}
    if given is not None:
        shapes = {port: QUANTITIES[name].shape if name in QUANTITIES else () for port, name in given.items()}
    held = Counter((*owners["contacts"], *owners["external"]))
    ways = [list(_groups(task.model, wanted)) for wanted in (held, Counter[int]())]
    return tuple(_roles(shapes, owners, groups) for groups in (ways if ways[0] != ways[1] else ways[:1]))


def _roles(
    shapes: Mapping[str, Sequence[object]], owners: dict[str, list[int]], groups: Sequence[list[list[int]]]
) -> Roles:
    """The roles of inputs, of these names and axes, in these groups of limbs."""
    places = {
        body: (group, limb, place)
        for group, sides in enumerate(groups)
        for limb, bodies in enumerate(sides)
        for place, body in enumerate(bodies)
    }
    found: Roles = {}
    for port, shape in shapes.items():
        inner = [width for width in shape[1:] if isinstance(width, int)]
        if not shape or shape[0] not in owners or len(inner) < len(shape) - 1:
            continue
        size, seen = prod(inner), Counter[int]()
        for row, body in enumerate(owners[str(shape[0])]):
            if body in places:
                group, limb, place = places[body]
                for column in range(size):
                    found[port, row * size + column] = group, limb, (port, place, seen[body], column)
                seen[body] += 1
    return found


def _owners_of(task: Task) -> dict[str, list[int]]:
    """By what the first axis of an argument runs over: the bodies that its rows belong to."""
    model, entry = task.model, task.entry
    sizes = {width for name in (*entry.inputs, *entry.outputs) for width in QUANTITIES[name].shape}
    contacts = task.chosen_contacts() if "contacts" in sizes else ()
    return {
        "nq": _owners(model.q_slices, model.nq),
        "nv": _owners(model.v_slices, model.nv),
        "external": [model.frame(name).body for name in task.external],
        "contacts": [contact.frame.body for contact in contacts for _ in contact.rows],
        "held": [contact.frame.body for contact in contacts],
    }


def _owners(slices: Sequence[slice], size: int) -> list[int]:
    """By coordinates: the body whose joint each belongs to."""
    owners = [-1] * size
    for body, place in enumerate(slices):
        for k in range(place.start, place.stop):
            owners[k] = body
    return owners


def _groups(model: Model, held: Counter[int]) -> Iterator[list[list[int]]]:
    """Groups of limbs of one shape, the bodies of each limb in the same order; none inside another.

    `held` are numbers that limbs must have in common beside their joints.
    """
    children: dict[int, list[int]] = {}
    for index, body in enumerate(model.bodies):
        children.setdefault(body.parent, []).append(index)
    known: dict[Shape, int] = {}
    shapes = [0] * len(model.bodies)
    for index in reversed(range(len(model.bodies))):
        below = [shapes[child] for child in children.get(index, ())]
        own = model.q_slices[index], model.v_slices[index]
        kind = model.bodies[index].joint.type, held[index]
        shape = (*kind, *(part.stop - part.start for part in own), *below)
        shapes[index] = known.setdefault(shape, len(known))

    def members(root: int) -> list[int]:
        found, waiting = [], [root]
        while waiting:
            found.append(waiting.pop())
            waiting += reversed(children.get(found[-1], ()))
        return found

    waiting = [-1]
    while waiting:
        kinds: dict[int, list[int]] = {}
        for child in children.get(waiting.pop(), ()):
            kinds.setdefault(shapes[child], []).append(child)
        for roots in kinds.values():
            left = roots
            while len(left) > 1:
                width = min(_MOST, 1 << len(left).bit_length() - 1)
                yield [members(root) for root in left[:width]]
                left = left[width:]
            waiting += left
