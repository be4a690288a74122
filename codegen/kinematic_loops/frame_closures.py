"""Closures of two frames by a point, a hinge or a weld: what vanishes where they meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from casadi import SX, sum1, vertcat

from codegen.geometry import Pose, clean, mat3, vec3
from codegen.spatial import Transform, constant, zeros

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codegen.model import Loop, Model

TransformOf = Callable[[int, SX], Transform]
"""The transform of a body at its joint's position."""


def closure(
    model: Model, position: Mapping[int, SX], loop: Loop, transform: TransformOf, moves: Sequence[Pose]
) -> tuple[SX, SX]:
    """What the closure of two frames wants to vanish, and the cosines that it then wants to be one."""
    data = loop.stated
    ends = [_end(model, data[side]) for side in ("predecessor", "successor")]
    shared = [b for b in path(model, ends[0][0]) if b in path(model, ends[1][0])]
    hub = shared[0] if shared else -1
    axes = constant(moves[hub].R) if hub >= 0 else SX.eye(3)

    def seen(end: tuple[int, Pose], place: SX, point: bool) -> SX:
        b = end[0]
        while b != hub:
            X = transform(b, position[b])
            place = X.point(place) if point else X.outward(place)
            b = model.bodies[b].parent
        return axes @ place

    origins = [seen(end, constant(end[1].p), True) for end in ends]
    gap = (origins[0] - origins[1])[[int(n) for n in data.get("components", (0, 1, 2))]]
    if data["type"] == "point":
        return gap, zeros(0)
    turned = [seen(end, constant(end[1].R), False) for end in ends]
    if data["type"] == "weld":
        across, facing = _same_axes(turned[0], turned[1])
    else:
        axis = clean(np.array(data.get("axis", [1.0, 0.0, 0.0]), float))
        across, facing = _on_hinge(turned[0], turned[1], axis)
    return vertcat(gap, *across), facing


def _same_axes(first: SX, second: SX) -> tuple[list[SX], SX]:
    """Cosines that vanish, and that are one, where two frames (3 x 3) have the same axes."""
    pairs = ((1, 2), (2, 0), (0, 1))
    agree = [sum1(first[:, a] * second[:, a]) for a in range(3)]
    return [sum1(first[:, a] * second[:, b]) for a, b in pairs], vertcat(*agree)


def _on_hinge(first: SX, second: SX, axis: NDArray[np.float64]) -> tuple[list[SX], SX]:
    """Cosines that vanish, and one that is one, where an axis is the same in two frames (3 x 3)."""
    along = first @ constant(axis)
    k = int(np.argmin(np.abs(axis)))
    across = [np.cross(np.eye(3)[k], axis), np.cross(axis, np.cross(np.eye(3)[k], axis))]
    return [sum1((second @ constant(e)) * along) for e in across], sum1((second @ constant(axis)) * along)


def _end(model: Model, data: Mapping[str, Any]) -> tuple[int, Pose]:
    """The body and the pose on it of one end of a closure."""
    frame = model.frame(data["link"])
    own = Pose(mat3(data.get("rotation", np.eye(3))), vec3(data.get("translation", (0.0, 0.0, 0.0))))
    return frame.body, frame.placement @ own


def path(model: Model, b: int) -> list[int]:
    """The bodies from b to the root."""
    path = []
    while b >= 0:
        path.append(b)
        b = model.bodies[b].parent
    return path
