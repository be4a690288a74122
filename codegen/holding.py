"""Contacts over SX: the rows that users state, one set per point, in canonical frames and along the axes they name.

Axes that move against the frame either go into K, or, where a point or a frame is held wholly (its rows as a set are
then the same along any axes), stay outside the sweeps: K is constant, and multipliers turn at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from casadi import DM, SX, diagcat, vertcat

from codegen.errors import RobotError
from codegen.geometry import IDENTITY, Pose, clean
from codegen.model import Contact, Frame, Model
from codegen.spatial import Transform, constant, placement_steps
from codegen.tree import Held, Part

WHOLE = tuple(np.eye(6)[rows] for rows in (slice(0, 3), slice(3, 6), slice(0, 6)))


def holding(
    model: Model, parts: Sequence[Part], owner: Mapping[int, int], contacts: Sequence[Contact], turned: bool
) -> tuple[Held, ...]:
    """The contacts on a canonical model; with `turned`, all axes go into K.

    RobotError for a contact on the world itself, which is of no use to anybody.
    """
    held: list[Held] = []
    for number, contact in enumerate(contacts):
        frame, start = model.frame(contact.frame.name), held[-1].rows.stop if held else 0
        if frame.body < 0:
            raise RobotError(
                f"{model.name}: the contact on {frame.name!r} holds nothing that moves; name another frame"
            )
        turn = constant(np.eye(3)) if contact.axes in ("", frame.name) else _turn(model, parts, frame, contact.axes)
        bodies = model.nodes[owner[frame.body]].bodies
        for point, rows in contact.parts:
            place = frame.placement @ Pose(IDENTITY, point) if any(point) else frame.placement
            steps = placement_steps(place)
            K, plain, outside = _rows(np.array(contact.rows[rows]), turn, turned)
            own, numbers = Transform(steps).force(K.T), np.array(DM(Transform(steps).force(plain.T)))
            same = outside is not None or K.is_constant() or _whole(np.array(DM(plain)))
            held.append(
                Held(
                    body=frame.body,
                    node=owner[frame.body],
                    rows=slice(start + rows.start, start + rows.stop),
                    K=K,
                    origin=constant(place.p),
                    axes=Transform(steps),
                    force=vertcat(*[own if b == frame.body else SX(6, own.size2()) for b in bodies]),
                    body_force=own,
                    square=constant(clean(numbers @ numbers.T)) if same else own @ own.T,
                    scale=float(np.linalg.norm(numbers)),
                    turn=outside,
                    contact=number,
                    point=constant(point),
                    spatial=contact.spatial,
                )
            )
    return tuple(held)


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


def _turn(model: Model, parts: Sequence[Part], frame: Frame, axes: str) -> SX:
    """The rotation (3 x 3) that takes vectors along the frame's own axes to those along other axes."""
    other = Frame("world", -1) if axes == "world" else model.frame(axes)
    paths = [_path(parts, b) for b in (frame.body, other.body)]
    own, far = ([b for b in path if b not in paths[1 - n]] for n, path in enumerate(paths))
    inner = _from_above(parts, own).T @ constant(frame.placement.R)
    return constant(other.placement.R.T) @ (_from_above(parts, far) @ inner)


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
