"""Rerooting: another link of a floating robot as its base, as contacts feel the same of one another whichever it is.

A joint is the same seen from either of its links, so any link that hinges and slides lead to may float in place of the
base. What an algorithm carries from contacts to the base passes the joints between them: the base goes where that costs
least, and onto a link whose hinges meet at right angles, if that is as near, for these leave zeros there
(`codegen.lowering.base_frame`). Not onto a link far lighter than what would hang on it: that would cost digits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from codegen import costs
from codegen.geometry import Pose, clean, times, vec3
from codegen.lowering.base_frame import coordinate_axis

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from codegen.lowering.problem import ContactTraffic, Problem
    from codegen.model import Body, Contact, Model

LIGHT = 0.05  # of the mass of all that floats together


class Hinge(NamedTuple):
    """A hinge along a coordinate axis of a link: a point of it, the axis, and the unit forces that come through."""

    point: NDArray[np.float64]
    axis: int
    columns: int


@dataclass(frozen=True, slots=True)
class Ways:
    """A robot seen from the body `base`: the bodies it carries (parents first), and by these the unit forces on each
    and on all beyond it, and their masses.

    `single` are bodies whose joints are in no loop.
    """

    model: Model
    base: int
    carried: tuple[int, ...]
    single: frozenset[int]
    own: Mapping[int, int]
    beyond: Mapping[int, int]
    mass: Mapping[int, float]

    @classmethod
    def of(cls, model: Model, base: int, contacts: Iterable[Contact]) -> Ways:
        """The ways of the contacts' unit forces."""
        carried = [base]
        for b, body in enumerate(model.bodies):
            if body.parent in carried:
                carried.append(b)
        held = Counter[int]()
        for contact in contacts:
            held[model.frame(contact.frame.name).body] += len(contact.rows)
        own = {b: min(held[b], costs.TRANSMITTED) for b in carried}
        beyond, mass = dict(own), {b: model.bodies[b].inertia.mass for b in carried}
        for b in reversed(carried[1:]):
            beyond[model.bodies[b].parent] += beyond[b]
            mass[model.bodies[b].parent] += mass[b]
        single = frozenset(node.bodies[0] for node in model.nodes if len(node.bodies) == 1)
        return cls(model, base, tuple(carried), single, own, beyond, mass)

    def floating(self) -> list[int]:
        """The base and the bodies that might float in its place; none where it has to stay.

        It does where contacts are on it, or on more than two limbs that are alike: these are computed in step.
        """
        bodies, found = self.model.bodies, [self.base]
        if self.base not in self.single or bodies[self.base].joint.armature or self.own[self.base]:
            return []
        if self._alike() > costs.LIKE_LIMBS:
            return []
        for b in self.carried[1:]:
            leads = bodies[b].parent in found and b in self.single and bodies[b].joint.single_axis
            if leads and self.beyond[b] and self.mass[b] > LIGHT * self.mass[self.base]:
                found.append(b)
        return found

    def _alike(self) -> int:
        """How many of the limbs that unit forces come through are alike: of as many bodies, for as many forces."""
        bodies = self.model.bodies
        size = Counter(b for c in self.carried for b in carriers(bodies, c))
        limbs = [b for b in self.carried if bodies[b].parent == self.base and self.beyond[b]]
        return max(Counter((size[b], self.beyond[b]) for b in limbs).values(), default=0)

    def joints(self, r: int) -> Iterable[tuple[int, int, int]]:
        """With body r as the base, the joints that unit forces pass: by old bodies, the link beyond, and how many."""
        inverted = {*carriers(self.model.bodies, r)}
        for b in self.carried[1:]:
            turned, out = b in inverted, self.beyond[b]
            columns = self.beyond[self.base] - out if turned else out
            if columns:
                yield b, self.model.bodies[b].parent if turned else b, columns

    def distances(self, r: int) -> dict[int, int]:
        """By bodies, the joints between them and body r."""
        far = {b: n for n, b in enumerate(carriers(self.model.bodies, r))}
        for b in self.carried:
            far[b] = far[b] if b in far else far[self.model.bodies[b].parent] + 1
        return far

    def hinges(self, r: int) -> Iterable[Hinge]:
        """The hinges of body r, along its coordinate axes, through which unit forces come."""
        for b, end, columns in self.joints(r):
            body = self.model.bodies[b]
            if r in (b, body.parent) and body.joint.hinge and b in self.single and not body.joint.armature:
                place = Pose() if b == r else body.placement
                axis = coordinate_axis(times(place.R, np.array(body.joint.axis)))
                if axis >= 0 and end != r:
                    yield Hinge(place.p, axis, columns)


def reroot(problem: Problem) -> Problem:
    """The step: not where offsets are arguments, which belong to the joints as they are stated."""
    if not problem.request.needs.base_link or any(number.startswith("offset:") for number in problem.request.numbers):
        return problem
    return problem.of(rerooted(problem.model, problem.contacts, problem.request.needs.contact_traffic))


def rerooted(model: Model, contacts: Sequence[Contact], carried: ContactTraffic = "forces") -> Model:
    """The robot with its base where contacts cost least: joints keep their coordinates, bodies change their order.

    It stays where contacts are held along axes of the world or of what does not float with them, and where implicit
    loops, whose equations are along their carriers' axes, would turn with these.
    """
    if carried == "branches" or not all(loop.explicit for loop in model.loops):
        return model
    for name in [body.name for body in model.bodies if body.parent < 0 and body.joint.free]:
        base = next(b for b, body in enumerate(model.bodies) if body.name == name)  # numbers change on the way
        ways = Ways.of(model, base, contacts)
        along = [(model.frame(c.frame.name).body, _axes_of(model, c)) for c in contacts]
        if all((on in ways.carried) == (axes in ways.carried) for on, axes in along):
            root = _cheapest(ways, carried)
            model = model if root == base else hung_on(model, root)
    return model


def _cheapest(ways: Ways, carried: ContactTraffic) -> int:
    """The body that costs least as the base, the nearest of these; the base itself if none costs clearly less."""
    near, found = ways.distances(ways.base), {r: cost(ways, r, carried) for r in ways.floating()}
    root = min(found, key=lambda r: (found[r], near[r]), default=ways.base)
    return root if root != ways.base and found[root] + costs.REROOTING < found[ways.base] else ways.base


def _axes_of(model: Model, contact: Contact) -> int:
    """The body along whose axes a contact's rows are; -1 is the world."""
    return -1 if contact.axes == "world" else model.frame(contact.axes or contact.frame.name).body


def cost(ways: Ways, r: int, carried: ContactTraffic) -> int:
    """Operations on the ways to body r as the base, and there; of those that depend on r."""
    passed = list(ways.joints(r))
    if carried == "joints":
        return costs.HINGE * len(passed)
    there = -_saved(list(ways.hinges(r)), ways.beyond[ways.base])
    if carried == "pairs":
        far = ways.distances(r)
        forces = sum(costs.PAIR * columns * far[b] ** 2 for b, columns in ways.own.items() if columns)
        return forces + sum(costs.FACTOR * far[end] for _, end, _ in passed) + there
    for b, end, columns in passed:
        joint = costs.HINGE if ways.model.bodies[b].joint.turns_about else costs.SLIDE
        there += columns * (costs.TIP if columns == ways.own[end] else joint + columns)
    return there


def _saved(hinges: Sequence[Hinge], m: int) -> int:
    """What zeros among the base's motions save: in the first row of one hinge, in the second of one that meets it."""
    alone = [costs.first_row(hinge.columns, m) for hinge in hinges]
    pairs = [(a, b) for a, b in permutations(range(len(hinges)), 2) if _meet(hinges[a], hinges[b])]
    return max([0, *alone, *(alone[a] + costs.second_row(hinges[b].columns) for a, b in pairs)])


def _meet(first: Hinge, second: Hinge) -> bool:
    """Whether the second hinge is along the axis after that of the first, and they share a point."""
    apart = clean(second.point - first.point)
    return second.axis == (first.axis + 1) % 3 and not apart[(first.axis + 2) % 3]


def carriers(bodies: Sequence[Body], b: int) -> list[int]:
    """Body b and those that carry it."""
    found = []
    while b >= 0:
        found.append(b)
        b = bodies[b].parent
    return found


@dataclass(frozen=True, slots=True)
class Hanging:
    """Bodies as they hang on body `root`: `below` are, by those that carried it, the ones that now carry these.

    `moves` are, by the same, where their frames go.
    """

    bodies: Sequence[Body]
    root: int
    below: Mapping[int, int]
    moves: Mapping[int, Pose]

    @classmethod
    def on(cls, bodies: Sequence[Body], root: int) -> Hanging:
        """The bodies as they hang on one of them."""
        path = carriers(bodies, root)
        below = dict(zip(path[1:], path, strict=False))
        return cls(bodies, root, below, {b: bodies[c].placement for b, c in below.items()})

    def parent(self, b: int) -> int:
        """The body that body b hangs on."""
        return -1 if b == self.root else self.below.get(b, self.bodies[b].parent)

    def inwards(self, b: int) -> Pose:
        """Where the frame that body b had is in its new one."""
        return self.moves.get(b, Pose()).inverse()

    def body(self, b: int) -> Body:
        """Body b there; its parent is still numbered as it was."""
        body = self.bodies[b]
        joint, placement = body.joint, self.inwards(body.parent) @ body.placement
        if b == self.root:
            base = self.bodies[carriers(self.bodies, b)[-1]]
            joint, placement = base.joint, base.placement
        elif b in self.below:
            turned = self.bodies[self.below[b]].joint
            joint, placement = replace(turned, axis=vec3(-np.array(turned.axis))), self.inwards(self.below[b])
        inertia = body.inertia.moved(self.inwards(b)) if b in self.below else body.inertia
        return replace(body, joint=joint, placement=placement, inertia=inertia)


def hung_on(model: Model, root: int) -> Model:
    """The robot as it hangs on body `root`, which floats in place of its base.

    A body that now hangs on one that it carried has its frame where their joint is, and turns the other way.
    """
    hanging = Hanging.on(model.bodies, root)
    own = {b: n for n, node in enumerate(model.nodes) for b in node.bodies}
    nodes = _depth_first([own.get(hanging.parent(node.bodies[0]), -1) for node in model.nodes])
    order = [b for n in nodes for b in model.nodes[n].bodies]
    place, at = {b: n for n, b in enumerate(order)} | {-1: -1}, {n: k for k, n in enumerate(nodes)} | {-1: -1}
    return replace(
        model,
        bodies=tuple(replace(hanging.body(b), parent=place[hanging.parent(b)]) for b in order),
        nodes=tuple(
            replace(
                node,
                bodies=tuple(place[b] for b in node.bodies),
                parent=at[own.get(hanging.parent(node.bodies[0]), -1)],
            )
            for node in (model.nodes[n] for n in nodes)
        ),
        frames=tuple(
            replace(frame, body=place[frame.body], placement=hanging.inwards(frame.body) @ frame.placement)
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
