"""Contacts over SX: the rows that users state, one set per point, in canonical frames and along the axes they name.

Axes that move against the frame either go into K, or, where a point or a frame is held wholly (its rows as a set are
then the same along any axes), stay outside the sweeps: K is constant, and multipliers turn at the end.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from casadi import DM, SX, diagcat, vertcat

from codegen.elimination.levers import long_enough
from codegen.errors import RobotError
from codegen.geometry import IDENTITY, ROUNDING, Pose, clean
from codegen.lowering.baumgarte import all_inwards, outwards, wanted
from codegen.model import Frame
from codegen.recursions.tree import ContactRows, LoweredContact, StatedRows
from codegen.spatial import Transform, Translation, constant, placement_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.lowering.problem import ContactModel, Problem
    from codegen.model import Contact, Model
    from codegen.recursions.tree import Part, Tree
    from codegen.spatial import AxisRotation

WHOLE = tuple(np.eye(6)[rows] for rows in (slice(0, 3), slice(3, 6), slice(0, 6)))


def turns_outside(contact: Contact) -> bool:
    """Whether it holds one whole point or frame, along its own or the world's axes: then any axes serve the sweeps."""
    along = contact.axes in ("", "world", contact.frame.name)
    return along and len(contact.parts) == 1 and _whole(np.array(contact.rows))


def determines_hinge(model: Model, contacts: Sequence[Contact], contact: Contact, held: ContactModel) -> bool:
    """Whether rows of a point or frame off its body's hinge, along the body's axes, determine the hinge's motion.

    Frames held exactly do along any axes. `codegen.elimination.detect` decides; an error here costs operations only.
    """
    frame, rows = model.frame(contact.frame.name), np.array(contact.rows)
    turns = bool(rows[:, :3].any())
    if (
        held in ("", "softly")
        or frame.body < 0
        or rows.shape != (6 if turns else 3, 6)
        or (turns and held == "exactly")
    ):
        return False
    on = [model.frame(other.frame.name).body for other in contacts if other is not contact]
    if not _hinged(model, frame.body) or any(frame.body in _carrying(model, b) for b in on):
        return False
    body = model.bodies[frame.body]
    axis, place = np.array(body.joint.axis), (frame.placement @ Pose(IDENTITY, contact.parts[0][0])).p
    lever = np.cross(axis, place)
    if not np.linalg.norm(lever) > ROUNDING:
        return False
    S, K = np.append(axis, np.zeros(3)), np.append(turns * axis + np.cross(place, lever), lever)
    return long_enough(model, frame.body, S[:, None], K[:, None] / np.hypot(turns, np.linalg.norm(lever)))


def _hinged(model: Model, b: int) -> bool:
    """Whether body b is on a hinge to another body, and in no loop."""
    body, node = model.bodies[b], next(node for node in model.nodes if b in node.bodies)
    return body.joint.hinge and body.parent >= 0 and len(node.bodies) == 1 and not node.loops


def _carrying(model: Model, b: int) -> list[int]:
    """Body b and those that carry it."""
    found = []
    while b >= 0:
        found.append(b)
        b = model.bodies[b].parent
    return found


def determined_joints(problem: Problem) -> Problem:
    """The step that lets contacts determine the motion of joints, which are then eliminated."""
    return problem


def held_softly(problem: Problem) -> Problem:
    """Its plain form: as if contacts were soft, which determine no joint."""
    needs = problem.request.needs
    return replace(problem, request=replace(problem.request, needs=replace(needs, held=needs.held and "softly")))


def contact_axes(problem: Problem) -> Problem:
    """The step that finds contacts whose axes may stay outside the sweeps, unless they determine a joint."""
    needs, model = problem.request.needs, problem.canonical.model
    if not needs.contact_axes:
        return problem
    contacts = problem.contacts if needs.swept == "both" else ()
    return replace(
        problem,
        aside=tuple(c for c in contacts if not determines_hinge(model, contacts, c, needs.held)),
    )


def contact_rows(problem: Problem) -> Problem:
    """The step that puts contacts on the tree, and turns what goes in and comes out along their rows."""
    inner = [link.inner for link in problem.bodies.links]
    held = holding(problem.built, problem.contacts, problem.aside is None, inner)
    tree = replace(problem.built, contacts=held)
    if not held:
        return replace(problem, tree=tree)
    outside = dict.fromkeys(("lam", "x"), partial(outwards, tree))
    found = {**problem.arguments, **before(tree, problem)}
    return replace(problem, tree=tree, arguments=found, restores=(*problem.restores, outside))


def before(tree: Tree, problem: Problem) -> dict[str, SX]:
    """The arguments that contacts change before an algorithm sees them: axes, feedback, weights."""
    given = problem.arguments
    found = {name: all_inwards(tree, given[name]) for name in ("k", "lam0", "lam", "b") if name in given}
    asked = any(contact.spatial for contact in problem.contacts)
    if "k" in given and (asked or any(given[name].nnz() for name in ("kp", "kd"))):
        found["k"] = wanted(tree, given["v"], given["k"], given)
    if "weight" in given:
        found["mu"] = given["mu"] * given["weight"]
    return found


def holding(
    tree: Tree, contacts: Sequence[Contact], turned: bool, inner: Sequence[AxisRotation | None]
) -> tuple[LoweredContact, ...]:
    """The contacts on a tree; with `turned`, all axes go into K.

    `inner` are, by bodies, the turns from the axes that they are swept along to their own, where these differ; rows are
    then along the former. RobotError for a contact on the world itself, which is of no use to anybody.
    """
    held: list[LoweredContact] = []
    model, parts = tree.model, tree.parts
    for number, contact in enumerate(contacts):
        frame, start = model.frame(contact.frame.name), held[-1].rows.stop if held else 0
        if frame.body < 0:
            raise RobotError(
                f"{model.name}: the contact on {frame.name!r} holds nothing that moves; name another frame"
            )
        aside, R, E = inner[frame.body], constant(frame.placement.R), constant(np.eye(3))
        own = aside.outward(R) if aside else E
        if contact.axes in ("", frame.name):
            turn = own.T
        else:
            turn = _turn(model, parts, frame.body, E if aside else R, contact.axes)
        for point, rows in contact.parts:
            place = frame.placement @ Pose(IDENTITY, point) if any(point) else frame.placement
            origin, steps = constant(place.p), placement_steps(place)
            K, plain, outside = _rows(np.array(contact.rows[rows]), turn, turned)
            whole = _whole(np.array(DM(plain)))
            there = placement_steps(Pose(IDENTITY, place.translation)) if whole else steps  # the same along any axes
            numbers = np.array(DM(Transform(there).force(plain.T)))
            if aside:
                origin = aside.outward(origin)
                steps = (Translation(origin),)
            force = Transform(steps).force(K.T)
            same = outside is not None or K.is_constant() or whole
            square = constant(_cleaned(numbers @ numbers.T)) if same else force @ force.T
            held.append(
                LoweredContact(
                    body=frame.body,
                    node=parts[frame.body].node,
                    rows=slice(start + rows.start, start + rows.stop),
                    force=_on_node(tree, frame.body, force),
                    on_body=ContactRows(K, origin, Transform(steps), force, square),
                    stated=StatedRows(number, constant(point), own, outside, contact.spatial),
                    scale=float(np.linalg.norm(numbers)),
                    friction=contact.friction,
                )
            )
    return tuple(held)


def _on_node(tree: Tree, body: int, force: SX) -> SX:
    """Forces on a body (6 rows), as forces on all bodies of its node."""
    bodies = tree.model.nodes[tree.parts[body].node].bodies
    return vertcat(*[force if b == body else SX(6, force.size2()) for b in bodies])


def _cleaned(square: np.ndarray) -> np.ndarray:
    """`clean`, of small numbers in proportion (by a power of two, which costs no digits)."""
    largest = float(np.abs(square).max())
    scale = 2.0 ** math.floor(math.log2(largest)) if 0.0 < largest < 1.0 else 1.0
    return clean(square / scale) * scale


def _rows(rows: np.ndarray, turn: SX, turned: bool) -> tuple[SX, SX, SX | None]:
    """K of rows stated along axes that `turn` leads to; numbers of its size; the turn of its rows if left outside."""
    if turn.is_constant():
        K = constant(clean(rows @ np.array(DM(diagcat(turn, turn)))))
        return K, K, None
    plain = constant(rows)
    if turned or not _whole(rows):
        return plain @ diagcat(turn, turn), plain, None
    return plain, plain, diagcat(*[turn] * (len(rows) // 3))


def _whole(rows: np.ndarray) -> bool:
    return any(np.array_equal(rows, whole) for whole in WHOLE)


def _turn(model: Model, parts: Sequence[Part], body: int, R: SX, axes: str) -> SX:
    """The rotation (3 x 3) to other axes from those that R leads from to a body's own."""
    other = Frame("world", -1) if axes == "world" else model.frame(axes)
    paths = [_path(parts, b) for b in (body, other.body)]
    own, far = ([b for b in path if b not in paths[1 - n]] for n, path in enumerate(paths))
    return constant(other.placement.R.T) @ (_from_above(parts, far) @ (_from_above(parts, own).T @ R))


def _path(parts: Sequence[Part], b: int) -> list[int]:
    path: list[int] = []
    while b >= 0:
        path.insert(0, b)
        b = parts[b].parent
    return path


def _from_above(parts: Sequence[Part], path: Sequence[int]) -> SX:
    """The rotation into the last body of a path from the axes of what carries the first."""
    E = constant(np.eye(3))
    for b in path:
        E = parts[b].X.vector(E)
    return E
