"""Which limbs of a robot have the same shape, and what of a function's inputs belongs to each.

Limbs are subtrees on one body whose joints are of the same types in the same order; as many as are a power of two (at
most four) make a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.algorithms import QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codegen.model import Model
    from codegen.task import Task

    Shape = tuple[object, ...]

_MOST = 4


def limbs(task: Task) -> dict[tuple[str, int], tuple[int, int, object]]:
    """By input elements (port name, place): group of limbs, limb, and role in the limb."""
    model = task.model
    places = {
        body: (group, limb, place)
        for group, sides in enumerate(_groups(model))
        for limb, bodies in enumerate(sides)
        for place, body in enumerate(bodies)
    }
    contacts = task.chosen_contacts()
    owners = {
        "nq": _owners(model.q_slices, model.nq),
        "nv": _owners(model.v_slices, model.nv),
        "external": [model.frame(name).body for name in task.external],
        "contacts": [contact.frame.body for contact in contacts for _ in contact.rows],
        "held": [contact.frame.body for contact in contacts],
    }
    found: dict[tuple[str, int], tuple[int, int, object]] = {}
    for port in (port.name for port in task.signature[0]):
        shape = QUANTITIES[port].shape if port in QUANTITIES else ()
        if not shape or shape[0] not in owners or any(isinstance(width, str) for width in shape[1:]):
            continue
        size = 1
        for width in shape[1:]:
            size *= int(width)
        seen: dict[int, int] = {}
        for row, body in enumerate(owners[str(shape[0])]):
            for column in range(size):
                nth = seen[body] = seen.get(body, -1) + 1
                if body in places:
                    group, limb, place = places[body]
                    found[port, row * size + column] = group, limb, (port, place, nth)
    return found


def _owners(slices: Sequence[slice], size: int) -> list[int]:
    """By coordinates: the body whose joint each belongs to."""
    owners = [-1] * size
    for body, place in enumerate(slices):
        for k in range(place.start, place.stop):
            owners[k] = body
    return owners


def _groups(model: Model) -> Iterator[list[list[int]]]:
    """Groups of limbs of one shape, the bodies of each limb in the same order; none inside another."""
    children: dict[int, list[int]] = {}
    for index, body in enumerate(model.bodies):
        children.setdefault(body.parent, []).append(index)
    shapes: dict[int, Shape] = {}
    for index in reversed(range(len(model.bodies))):
        below = tuple(shapes[child] for child in children.get(index, ()))
        own = model.q_slices[index], model.v_slices[index]
        shapes[index] = (model.bodies[index].joint.type, *(part.stop - part.start for part in own), below)

    def members(index: int) -> list[int]:
        return [index, *(inner for child in children.get(index, ()) for inner in members(child))]

    waiting = [-1]
    while waiting:
        kinds: dict[Shape, list[int]] = {}
        for child in children.get(waiting.pop(), ()):
            kinds.setdefault(shapes[child], []).append(child)
        for roots in kinds.values():
            left = roots
            while len(left) > 1:
                width = min(_MOST, 1 << len(left).bit_length() - 1)
                yield [members(root) for root in left[:width]]
                left = left[width:]
            waiting += left
