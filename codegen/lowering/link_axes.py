"""Link axes: a hinge leaves the axes of its body free to choose about its own, and some cost less than others.

A body's motions and the forces on it are vectors, and its hinge's motion is one and the same vector along all axes that
are turned about the hinge. So they may stand at any angle, even at one that the body itself does not keep:

- Where all that a body carries turns about parallel axes, its axes stay where its own carrier's axes leave them. Its
  inertia alone is turned by its angle, not all that hangs on it, and the next hinge turns by the sum of both angles.
- A body that only spins about its hinge looks the same from axes that stay still.
- At a tip, where only inertia counts, axes stand so that the first moment across the hinge lies along one of them.
- A tip that is held by one whole point or frame, whose axes can be turned outside the sweeps
  (`codegen.lowering.contact_rows`), is turned by itself, unless it is a point and a zero of its inertia would be
  filled. Several points share more numbers along its own axes.

Needs canonical frames (`codegen.model.canonical_frames`) and regrouped inertias (`codegen.lowering.regroup_inertias`).
Other bodies that somebody looks at, by a frame or a contact, keep their own axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from casadi import DM, SX, cos, sin

from codegen import costs
from codegen.lowering.contact_rows import turns_outside
from codegen.lowering.problem import LinkAxes
from codegen.spatial import (
    AxisRotation,
    RigidInertia,
    Step,
    Transform,
    Translation,
    constant,
    others,
    placement_steps,
    unit_axis,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from codegen.joints import JointType
    from codegen.lowering.problem import Problem, Swept
    from codegen.model import Body, Model

DECIMALS = 15  # of angles, so that those of equal bodies are equal
ROUNDING = 1e-14  # what a turn leaves of products of inertia that are none, as part of the largest entry


@dataclass(frozen=True, slots=True)
class Turned:
    """A turn about coordinate axis k by `sign` times an angle."""

    k: int
    sign: float
    angle: SX

    @property
    def step(self) -> AxisRotation:
        """The turn as a change of frame."""
        return AxisRotation(self.k, cos(self.angle), self.sign * sin(self.angle))

    def one_way(self, fixed: float) -> Turned:
        """The same with sign 1, `fixed` further about the axis: nothing that is turned by it is negated."""
        return Turned(self.k, 1.0, self.sign * self.angle + fixed)

    def after(self, other: Turned, fixed: float) -> Turned:
        """Both turns, and a fixed one, as one."""
        return Turned(self.k, self.sign, self.angle + (self.sign * other.sign) * other.angle + self.sign * fixed)


def link_axes(problem: Problem) -> Problem:
    """The step. Loops over columns want inertias that are constants: tables."""
    if problem.by_columns:
        return own_axes(problem)
    used, held = looked_at(problem)
    model, bodies, swept = problem.canonical.model, problem.bodies, problem.request.needs.swept
    inertias = bodies.inertias[:-1]
    chosen = on_hinges(model, bodies.joints, problem.positions, bodies.offsets, inertias, used, held, swept)
    return problem.found(links=chosen)


def own_axes(problem: Problem) -> Problem:
    """Bodies along the axes of their own frames."""
    rows = zip(problem.canonical.model.bodies, problem.bodies.offsets, problem.bodies.inertias[:-1], strict=True)
    turns, at = problem.bodies.joints, problem.positions
    transforms = (
        (Transform(placement_steps(body.placement, offset) + turns[b].transform(at[b])), inertia)
        for b, (body, offset, inertia) in enumerate(rows)
    )
    return problem.found(links=tuple(LinkAxes(*pair) for pair in transforms))


def looked_at(problem: Problem) -> tuple[set[int], dict[int, int]]:
    """The bodies that somebody looks at, and the rows of those that one contact alone does, its axes turned outside."""
    model, contacts, aside = problem.canonical.model, problem.contacts, problem.aside or ()
    on = [model.frame(contact.frame.name).body for contact in contacts]
    alone = {b: c for b, c in zip(on, contacts, strict=True) if c in aside and on.count(b) == 1 and turns_outside(c)}
    seen = {name for c in contacts if c not in alone.values() for name in (c.frame.name, c.axes)} - {"", "world"}
    numbers = (name.partition(":") for name in problem.request.numbers)
    loaded = {target for kind, _, target in numbers if kind in ("payload", "inertia")}
    used = {model.frame(name).body for name in (*problem.request.frames, *problem.request.external, *seen, *loaded)}
    return used, {b: len(c.rows) for b, c in alone.items() if b not in used}


def on_hinges(
    model: Model,
    joints: Sequence[JointType],
    positions: Mapping[int, SX],
    offsets: Sequence[SX | None],
    inertias: Sequence[RigidInertia],
    looked_at: Collection[int],
    held: Mapping[int, int],
    swept: Swept,
) -> tuple[LinkAxes, ...]:
    """By bodies: how they are described along axes that are chosen as above.

    `held` are, by bodies that nothing else looks at, how many rows of one whole point or frame hold them. `offsets` may
    replace where placements are. Where forces are swept, carriers are turned by themselves only if they have first
    moments along both axes across their hinges: others would lose more by it than what carries them wins.
    """
    found: list[LinkAxes] = []
    behind: dict[int, Turned] = {}  # bodies that have turned against the axes they are described along
    for b, (body, own) in enumerate(zip(model.bodies, inertias, strict=True)):
        steps = placement_steps(body.placement, offsets[b])
        if not body.joint.hinge:
            found.append(LinkAxes(Transform(steps + joints[b].transform(positions[b])), own))
            continue
        k, sign = unit_axis(body.joint.axis)
        turn, beyond = Turned(k, sign, positions[b]), carried(model, b)
        if body.parent in behind:
            base = behind[body.parent]
            turn, steps = turn.after(base, _about(k, body)), _turned_shift(base, body, offsets[b])
        last: tuple[Step, ...] = (turn.step,)
        inner = None
        if not beyond and b in held:
            aside = turn.one_way(0.0).step
            if held[b] >= costs.WELDED or not _fills(aside, own):
                inner, last, own = aside, (), aside.carry(own)
        elif b in looked_at or b in held:
            pass
        elif not beyond:
            last, own = _along_first_moment(turn, own)
        elif _stays(body, beyond) and _across(own, k) >= costs.MOMENTS[swept]:
            behind[b], last, own = turn, (), turn.step.carry(own)
        found.append(LinkAxes(Transform((*steps, *last)), own, inner))
    return tuple(found)


def carried(model: Model, b: int) -> list[Body]:
    """The bodies that hang on body b."""
    return [other for other in model.bodies if other.parent == b]


def _stays(body: Body, carried: Sequence[Body]) -> bool:
    """Whether a body's axes may stay where its carrier's leave them: all that it carries turns about parallel axes."""
    return all(_parallel(body, other) for other in carried)


def _parallel(body: Body, other: Body) -> bool:
    """Whether a body's hinge and that of another, which it carries, are parallel and point the same way."""
    if not other.joint.hinge:
        return False
    k, _ = unit_axis(body.joint.axis)
    return unit_axis(other.joint.axis)[0] == k and bool(other.placement.R[k, k] == 1.0)


def _fills(step: AxisRotation, inertia: RigidInertia) -> bool:
    """Whether a turn leaves fewer zeros in an inertia."""
    there = step.carry(inertia)
    return there.I.nnz() > inertia.I.nnz() or there.h.nnz() > inertia.h.nnz()


def _about(k: int, body: Body) -> float:
    """The angle of a placement that only turns about axis k."""
    i, j = others(k)
    return math.atan2(body.placement.R[j, i], body.placement.R[i, i])


def _turned_shift(turn: Turned, body: Body, offset: SX | None) -> tuple[Translation, ...]:
    """Where a body is placed, along axes that its carrier has turned against."""
    p = constant(body.placement.p) if offset is None else offset
    return (Translation(turn.step.outward(p)),) if p.nnz() else ()


def _across(inertia: RigidInertia, k: int) -> int:
    """Along how many of the two axes across axis k the inertia has first moments."""
    return sum(not inertia.h[n].is_zero() for n in others(k))


def _along_first_moment(turn: Turned, inertia: RigidInertia) -> tuple[tuple[Step, ...], RigidInertia]:
    """The steps to axes along one of which the first moment across the hinge lies, and the inertia there."""
    i, j = others(turn.k)
    if inertia.only_spins == turn.k:
        return (), inertia
    if _across(inertia, turn.k) < 2 or not inertia.h.is_constant():
        return (turn.step,), inertia
    x, y = float(inertia.h[i]), float(inertia.h[j])
    angle = round(math.atan2(y, x), DECIMALS)
    ahead = AxisRotation(turn.k, SX(math.cos(angle)), SX(-math.sin(angle))).carry(inertia)
    moment = np.array(DM(ahead.I))
    moment[np.abs(moment) < ROUNDING * np.abs(moment).max()] = 0.0
    h = SX(ahead.h)
    h[i], h[j] = math.hypot(x, y), SX(1, 1)
    there = turn.one_way(angle)
    return (there.step,), RigidInertia.about_origin(ahead.m, h, constant(moment))
