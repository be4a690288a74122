"""What a generated header says of a robot, and of the contacts that its functions share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codegen.algorithms import optional
from codegen.emission.spec import MOST, TOLERANCE, Header, JointRow
from codegen.kinematic_loops import states
from codegen.task.header_notes import closure_notes, contact_lines
from codegen.tracing.directional import signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codegen.model import Model
    from codegen.tracing.task import Task

CONVENTIONS = {
    "pinocchio": "Quaternions are (x, y, z, w). A floating base has q = (position, quaternion) and "
    "v = (linear, angular), both along the base's axes.",
    "mujoco": "Quaternions are (w, x, y, z). A floating base has q = (position, quaternion) and "
    "v = (linear along the world's axes, angular along the base's axes).",
}


def header(model: Model, prefix: str, tasks: Sequence[Task]) -> Header:
    """What the generated header says about a model, and the contacts that functions on it share."""
    rows = zip(model.bodies, model.q_slices, model.v_slices, strict=True)
    return Header(
        robot=model.name,
        prefix=prefix,
        nq=model.nq,
        nv=model.nv,
        joints=tuple(
            JointRow(body.joint.name, body.joint.type, (q.start, q.stop), (v.start, v.stop)) for body, q, v in rows
        ),
        convention=CONVENTIONS[model.convention],
        gravity=model.gravity,
        digest=model.digest,
        usual=(*_usual(model, next((task.dtype for task in tasks), "float64")), *_directions(tasks)),
        notes=(*closure_notes(model, tasks), *model.notes),
        contacts=tuple(contact_lines(tasks)),
    )


def _directions(tasks: Sequence[Task]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Directions and weights of results at which products of derivatives may be tried."""
    known = {port.name for task in tasks for port in task.signature[0]}
    names = dict.fromkeys(port.name for task in tasks for port in signature(task)[0])
    return tuple((name, (1.0,)) for name in names if name not in known)


def _usual(model: Model, dtype: str) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Arguments at which a function may be tried: the neutral configuration, no feedback, five steps at most."""
    neutral = tuple(float(x) for x in states.neutral(model))
    within = 1e-3 if dtype == "float32" else 1e-9
    numbers = {**optional(model, dtype), "weight": 1.0, TOLERANCE.name: within, MOST.name: 5.0}
    return (
        *((name, neutral) for name in ("q", "q0", "q1", "guess")),
        *((name, (number,)) for name, number in numbers.items() if number),
        ("target_rotation", (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)),
        ("gravity", model.gravity),
    )
