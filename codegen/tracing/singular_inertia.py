"""Robots whose joint-space inertia matrix M is singular at every configuration: forward dynamics has no solution there.

A link without inertia lets its joint move without moving any, or two joints together: a floating base without inertia
turns one way as the hinge that carries all the rest turns the other. Such a motion begins at a joint whose own link
does not resist all that the joint can do, as v' M v is no less than what any link has of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codegen.errors import UnsuitedError
from codegen.ir.interpreter import interpret
from codegen.kinematic_loops import states

if TYPE_CHECKING:
    from codegen.ir.graph import Graph
    from codegen.model import Body, Model
    from codegen.tracing.task import Task

STATES, REGULAR = 3, 1e-13
"""Random states, and the least eigenvalue of M, scaled to ones on its diagonal, of a regular one."""

TAKES_PART = 1e-6
"""What of the largest entry of a direction is an entry of it."""

MOST = 3
"""Joints that are named."""


def light_links(model: Model) -> tuple[Body, ...]:
    """Those of which neither their own inertia nor their joint's resists all that the joint can do."""
    return tuple(body for body in model.bodies if not (body.joint.armature > 0 or _solid(body)))


def _solid(body: Body) -> bool:
    return body.inertia.mass > 0 and bool(np.linalg.det(body.inertia.moment) > 0)


def unresisted(model: Model, inertia: Graph) -> tuple[str, ...]:
    """The joints that move in directions in which M is singular at random states, if it is at all of these.

    `inertia` makes M of q, and of other arguments if there are any.
    """
    rng, found = np.random.default_rng(0), tuple[str, ...]()
    for _ in range(STATES):
        others = [rng.uniform(0.5, 1.5, port.shape) for port in inertia.inputs[1:]]
        M, *_ = interpret(inertia, states.random(model, rng)[0], *others)
        sizes = np.sqrt(abs(np.diag(M)))
        sizes[sizes == 0] = 1
        eigenvalues, directions = np.linalg.eigh(M / np.outer(sizes, sizes))
        directions = abs(directions[:, abs(eigenvalues) <= REGULAR]) / sizes[:, None]
        if not directions.size:
            return ()
        moving = (directions > TAKES_PART * directions.max(0)).any(1)
        parts = zip(model.joint_names, model.v_slices, strict=True)
        found = tuple(name for name, part in parts if moving[part].any())
    return found


def unsuited(task: Task, joints: tuple[str, ...]) -> UnsuitedError:
    """Where these joints can move without moving any inertia."""
    light = light_links(task.model)  # its joint may depend on those that move: by a gear, say
    link = next((body.name for body in light if body.joint.name in joints), light[0].name)
    named = [*map(repr, joints[:MOST]), *([f"{len(joints) - MOST} more"] if joints[MOST:] else ())]
    which = f"joint {named[0]}" if not named[1:] else f"joints {', '.join(named[:-1])} and {named[-1]}"
    return UnsuitedError(
        f"{task.model.name}: {task.algorithm} divides by the inertia that joints meet, and {which} can move without "
        f"moving any; give link {link!r} mass and moments of inertia, give its joint armature, or fix that"
    )
