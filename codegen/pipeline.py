"""The stages in order, and nothing else: task, trace, passes, emission, cache, callable."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.algorithms import ALGORITHMS
from codegen.backends import BACKENDS
from codegen.cache import cached
from codegen.counting import count
from codegen.emit import emit_artifact, emit_folder
from codegen.errors import RobotError
from codegen.folder import write_folder
from codegen.passes import run
from codegen.sheet import Header, JointRow, Kernel, Style
from codegen.task import Task, trace

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from codegen.artifact import Artifact
    from codegen.graph import Graph
    from codegen.model import Contact, Model
    from codegen.runtime import Function

CONVENTIONS = {
    "pinocchio": "Quaternions are (x, y, z, w). A floating base has q = (position, quaternion) and "
    "v = (linear, angular), both along the base's axes.",
    "mujoco": "Quaternions are (w, x, y, z). A floating base has q = (position, quaternion) and "
    "v = (linear along the world's axes, angular along the base's axes).",
}


def graphs(
    robot: Model,
    algorithm: str,
    *,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] = (),
) -> tuple[Graph, Graph]:
    """The graph of an algorithm as written and as emitted; the options are those of `build`."""
    return _graphs(_task(robot, algorithm, frames, external, parameters, contacts))


def _task(
    robot: Model,
    algorithm: str,
    frames: Sequence[str],
    external: Sequence[str],
    parameters: Sequence[str],
    contacts: Sequence[Contact | str],
) -> Task:
    """The task of these options; a contact may be a text FRAME:ROWS."""
    held = tuple(contact_of(robot, text) if isinstance(text, str) else text for text in contacts)
    return Task(robot, algorithm, tuple(frames), tuple(external), tuple(parameters), held)


def contact_of(robot: Model, text: str) -> Contact:
    """The contact that a text FRAME:3 or FRAME:6 (or FRAME alone: all six rows) names."""
    frame, colon, rows = text.rpartition(":")
    if not colon:
        return robot.contact(text)
    if rows not in ("3", "6"):
        raise RobotError(f"contact {text!r}: write FRAME:3 (a point) or FRAME:6 (a weld)")
    return robot.contact(frame, int(rows))


@lru_cache(maxsize=8)
def _graphs(task: Task) -> tuple[Graph, Graph]:
    written = trace(task)
    return written, run(written)


def build(
    robot: Model,
    algorithm: str,
    *,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] = (),
    dtype: str = "float64",
) -> Function:
    """A compiled callable of one algorithm, specialised to one robot.

    `frames` are those of fk and jacobian (default: the tips), `external` the frames on which external wrenches
    act (rows of the argument f_ext), `parameters` the numbers that stay arguments: `gravity`,
    `payload:FRAME`, `offset:JOINT`, `contacts` the held frames (`Model.contact`, or texts FRAME:ROWS; default: all
    six rows of every tip). RobotError for a name that does not exist, BuildError if no compiler works.
    """
    _check_dtype(dtype)
    task = _task(robot, algorithm, frames, external, parameters, contacts)
    assert task.signature  # names are checked before the cache is asked

    def make() -> Artifact:
        return emit_artifact(header(robot, robot.name), kernel(task), Style(dtype, lanes=8))

    return cached(f"{task.request} {dtype}", make)


def generate(
    robot: Model,
    algorithms: Sequence[str],
    out: str | os.PathLike[str],
    *,
    prefix: str | None = None,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] = (),
    dtype: str = "float64",
) -> tuple[Path, ...]:
    """Write a folder of C that builds by itself; the paths written.

    `prefix` begins every symbol (default: the robot's name); the other options are those of `build`.
    """
    _check_dtype(dtype)
    tasks = [_task(robot, name, frames, external, parameters, contacts) for name in algorithms]
    files = emit_folder(header(robot, prefix or robot.name), tuple(kernel(task) for task in tasks), Style(dtype))
    return write_folder(files, Path(out))


def _check_dtype(dtype: str) -> None:
    if dtype not in BACKENDS:
        raise RobotError(f"dtype {dtype!r}: choose one of {', '.join(BACKENDS)}")


def kernel(task: Task) -> Kernel:
    """The function to emit for a task."""
    written, emitted = _graphs(task)
    return Kernel(emitted, ALGORITHMS[task.algorithm].title, count(written))


def header(model: Model, prefix: str) -> Header:
    """What the generated header says about a model."""
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
        neutral=tuple(float(x) for x in model.neutral()),
        notes=model.notes,
    )
