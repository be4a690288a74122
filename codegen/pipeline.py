"""The stages in order, and nothing else: task, trace, passes, emission, cache, callable."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from codegen.algorithms import ALGORITHMS, concerning, optional
from codegen.backends import BACKENDS, Backend
from codegen.compilation.cache import cached
from codegen.compilation.compiler import Toolchain, toolchain
from codegen.compilation.library import Library, compiled, library
from codegen.emission.emit import emit_artifacts
from codegen.emission.folder import write_folder
from codegen.emission.spec import LANES, MOST, TOLERANCE, Header, JointRow, Kernel, LoopKernel, Style
from codegen.emission.splitting import SHORT
from codegen.errors import RobotError
from codegen.ir.counting import count
from codegen.ir.staging import staged
from codegen.kinematic_loops import states
from codegen.languages import SCALARS, TRIG
from codegen.lowering import checked
from codegen.model import Contact
from codegen.model.contacts import contact_of
from codegen.passes import run
from codegen.progress import doing, each
from codegen.task.auto_select import AUTO, Choice, cheapest, resolved, stand_in
from codegen.task.header_notes import closure_notes, contact_lines, folded
from codegen.task.limb_symmetry import limbs
from codegen.tracing.task import Task, trace, trace_iteration

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from codegen.compilation.runtime import Function
    from codegen.emission.artifact import Artifact
    from codegen.ir.graph import Graph
    from codegen.model import Model

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
    contacts: Sequence[Contact | str] | None = None,
    iterations: int = 3,
    dtype: str = "float64",
    without: Sequence[str] = (),
) -> tuple[Graph, Graph]:
    """The graph of an algorithm as written and as emitted; the options are those of `build`."""
    asked = _task(robot, algorithm, frames, external, parameters, contacts, iterations, dtype, without)
    return _graphs(resolved(asked))


def task(robot: Model, algorithm: str, **options: Any) -> Task:
    """What `graphs` traces for these options, which are those of `build`, with `auto` resolved."""
    given = {name: options.pop(name, ()) for name in ("frames", "external", "parameters")}
    return resolved(_task(robot, algorithm, **given, **{"contacts": None, "iterations": 3, **options}))


def auto(
    robot: Model,
    group: str = "constrained",
    *,
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int | None = 3,
) -> Choice:
    """The cheapest forward dynamics (`constrained`) or Delassus algorithm (`delassus`) by operations, with the others.

    The options are those of `build`. `algorithm` of the result is the name; algorithms of which even the operations as
    written are far more than the fewest are not counted as emitted. Forward dynamics without contacts
    (None, or an empty list) are `aba` or `ltl`; those that need independent rows compete only if the rows are so.
    """
    return cheapest(_task(robot, AUTO, (), external, parameters, contacts, iterations), group)


def _task(
    robot: Model,
    algorithm: str,
    frames: Sequence[str],
    external: Sequence[str],
    parameters: Sequence[str],
    contacts: Sequence[Contact | str] | None,
    iterations: int | None,
    dtype: str = "float64",
    without: Sequence[str] = (),
) -> Task:
    """The task of these options; a contact may be a text (see `codegen.model.contacts`)."""
    if not robot.nv:
        raise RobotError(
            f"{robot.name}: nothing moves; let a joint move, or the base float (base='floating', --floating)"
        )
    if iterations is not None and (not isinstance(iterations, Integral) or iterations < 1):
        raise RobotError(f"iterations must be a whole number of at least one, not {iterations!r}")
    named = _names("parameters", parameters)
    for name in named:
        if named.count(name) > 1:
            raise RobotError(f"parameter {name!r} is named twice; name it once")
    return Task(
        robot,
        algorithm,
        _names("frames", frames),
        _names("external", external),
        named,
        _held(robot, contacts),
        None if iterations is None else int(iterations),
        _dtype(dtype),
        checked(_names("without", without)),
    )


def _names(kind: str, given: Sequence[str]) -> tuple[str, ...]:
    """The names in a list of them."""
    names = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise RobotError(f"{kind} must be a list of names, not {given!r}")
    return cast("tuple[str, ...]", names)


def _held(robot: Model, contacts: Sequence[Contact | str] | None) -> tuple[Contact, ...] | None:
    """The contacts in a list of contacts and texts, if there is one; on this robot, whichever they were stated for."""
    if contacts is None:
        return None
    held = tuple(contacts) if isinstance(contacts, Iterable) and not isinstance(contacts, str) else (None,)
    if not all(isinstance(contact, Contact | str) for contact in held):
        raise RobotError(f"contacts must be a list, of texts such as 'tool:3' or of contacts, not {contacts!r}")
    stated = [contact_of(robot, text) if isinstance(text, str) else cast("Contact", text) for text in held]
    return tuple(replace(contact, frame=robot.frame(contact.frame.name)) for contact in stated)


@lru_cache(maxsize=8)
def _graphs(task: Task) -> tuple[Graph, Graph]:
    with _undisturbed(), doing(f"{task.algorithm} of {task.model.name}"):
        with doing("tracing"):
            written = trace(task)
        with doing("passes"):
            return written, run(written)


def build(
    robot: Model,
    algorithm: str,
    *,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int | None = 3,
    dtype: str = "float64",
    target: str = "native",
    trig: str = "fast",
    compiler: str | None = None,
    without: Sequence[str] = (),
) -> Function:
    """A compiled callable of one algorithm (or `auto`: the cheapest forward dynamics), specialised to one robot.

    `frames` are those of fk and jacobian (default: the tips), `external` the frames on which external wrenches
    act (rows of the argument f_ext), `parameters` the numbers that stay arguments: `gravity`, `payload:FRAME`,
    `offset:JOINT`, and of algorithms with contacts `k`, `mu`, `lam0`, `R`, `weight`, `kp`, `kd`, `target_velocity`.
    `contacts` are the held frames (`Robot.contact`, or texts as `codegen.model.contacts` says; default: all six rows of
    every tip, and none for `auto`; algorithms on contacts refuse an empty list); those with a gain kp add their target
    poses to the arguments. `iterations` the steps of a proximal algorithm; None leaves them to the arguments `tol` and
    `max_iter`, and `iterations` and `residual` come out. `without` names steps of the lowering (`codegen.lowering`) to
    leave out, or `all` that can be.
    `target` says where the code runs: `native` (this processor), `x86-64-v3` (all with AVX2) or `portable` (all of
    this architecture), `trig` whose sine and cosine it takes: `fast` (inline) or `libm`. `compiler` is the name or path
    of a C compiler, or `zig` (default: RIGIDC_CC, else clang, gcc, cc or zig's wheel, the first there is); the text is
    cut for it.
    RobotError for a name that does not exist, BuildError if no compiler works.
    """
    tools = toolchain(target, compiler=compiler)
    style = _style(dtype, trig, tools)
    task = _task(robot, algorithm, frames, external, parameters, contacts, iterations, dtype, without)
    assert stand_in(task).signature  # names are checked before the cache is asked

    def make() -> Iterator[Artifact]:
        with _undisturbed():
            chosen = resolved(task)
            yield from emit_artifacts(header(robot, robot.name, (chosen,)), kernel(chosen), style)

    recipe = _recipe(task, dtype=dtype, target=target, trig=trig, compiler=compiler)
    with doing(f"{task.algorithm} of {robot.name}"):
        return replace(cached(f"{task.request} {style}", make, tools), recipe=recipe)


def _recipe(task: Task, **written: str | None) -> Callable[[], Function]:
    """How to build a function again, in any process."""
    options: dict[str, Any] = {
        "frames": task.frames,
        "external": task.external,
        "parameters": task.parameters,
        "contacts": task.contacts,
        "iterations": task.iterations,
        "without": task.without,
        **written,
    }
    return partial(build, task.model, task.algorithm, **options)


def generate(
    robot: Model,
    algorithms: Sequence[str],
    out: str | os.PathLike[str],
    *,
    prefix: str | None = None,
    frames: Sequence[str] = (),
    external: Sequence[str] = (),
    parameters: Sequence[str] = (),
    contacts: Sequence[Contact | str] | None = None,
    iterations: int | None = 3,
    dtype: str = "float64",
    trig: str = "fast",
    lanes: int = 1,
    without: Sequence[str] = (),
    libraries: Sequence[str] = (),
    static: bool = False,
    cpu: str | None = None,
    backend: str = "c",
) -> tuple[Path, ...]:
    """Write a folder of C that builds by itself; the paths written. Sources of an earlier one are replaced or removed.

    `prefix` begins every symbol (default: the robot's name); `lanes` above 1 adds functions of many states, so many
    at a time in SIMD lanes; the other options are those of `build`. Every algorithm takes the parameters that it knows,
    and `iterations=None` concerns those that iterate. `backend="c_portable"` writes one source of plain ISO C99 for any
    compiler: always with the C library's sine and cosine, and never with lanes.
    `libraries` are targets by zig's names (`aarch64-linux-gnu`, `x86_64-windows-gnu`, `aarch64-macos`): for each the C
    is compiled to lib/TARGET too, as a shared or (`static`) a static library, for the processor `cpu` by zig's name
    (default: any of the target's). BuildError if zig is not installed (`pip install rigidc[zig]`), or for other names.
    """
    writer = _backend(backend)
    style = writer.style(_style(dtype, trig, lanes))
    wanted = _libraries(libraries, static, cpu)
    lists = (_names("frames", frames), _names("external", external), _names("parameters", parameters))
    held, tasks, chosen = _held(robot, contacts), [], _names("algorithms", algorithms)
    direct = {name for name in chosen if name in ALGORITHMS and "lam0" not in ALGORITHMS[name].inputs}
    for name in chosen:
        own = concerning(name, chosen, lists[2])
        steps = 3 if name in direct and direct < {*chosen} else iterations
        tasks.append(_task(robot, name, *lists[:2], own, held, steps, dtype, without))
    with _undisturbed(), doing(f"C for {robot.name}"):
        tasks = [resolved(task) for task in tasks]
        top = header(robot, prefix or robot.name, tasks)
        kernels = tuple(kernel(task) for task in each(tasks, lambda task: f"{task.algorithm} of {robot.name}"))
        files = writer.folder(top, kernels, style)
        made: dict[str, str | bytes] = {}
        for one in each(wanted, str):
            made |= compiled(one, top.c_prefix, files)
    return write_folder({**files, **made}, Path(out))


def _libraries(targets: Sequence[str], static: bool, cpu: str | None) -> tuple[Library, ...]:
    """The libraries for these targets."""
    names = _names("libraries", targets)
    if not names and (static or cpu):
        raise RobotError("static and cpu say how libraries are made; name the target of one (--library)")
    return tuple(library(name, static=static, cpu=cpu) for name in names)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Python does not look for garbage meanwhile: a graph has none among its many thousand values."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _backend(name: str) -> Backend:
    """A backend that there is."""
    if name not in BACKENDS:
        raise RobotError(f"backend {name!r}: choose one of {', '.join(BACKENDS)}")
    return BACKENDS[name]


def _dtype(name: str) -> str:
    """A type of numbers that there is."""
    if name not in SCALARS:
        raise RobotError(f"dtype {name!r}: choose one of {', '.join(SCALARS)}")
    return name


def _style(dtype: str, trig: str, lanes: int | Toolchain) -> Style:
    """How C is written; for an extension by its toolchain, which knows the target's registers."""
    _dtype(dtype)
    if trig not in TRIG:
        raise RobotError(f"trig {trig!r}: choose one of {', '.join(TRIG)}")
    if isinstance(lanes, Toolchain):
        return Style(dtype, trig, lanes.lanes(4 if dtype == "float32" else 8), lanes.lengths, lanes.sentence)
    if lanes not in LANES:
        raise RobotError(f"lanes {lanes!r}: choose one of {', '.join(map(str, LANES))}")
    return Style(dtype, trig, lanes, SHORT)


def kernel(task: Task) -> Kernel | LoopKernel:
    """The function to emit for a task."""
    if task.iterations is None:
        written = trace_iteration(task)
        about = f"{ALGORITHMS[task.algorithm].title}; iterates until its residual is at most tol"
        return LoopKernel(task.algorithm, staged(run(written)), about, count(written), folded(task))
    written, emitted = _graphs(task)
    return Kernel(emitted, ALGORITHMS[task.algorithm].title, count(written), limbs(task), folded(task))


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
        usual=_usual(model, next((task.dtype for task in tasks), "float64")),
        notes=(*closure_notes(model), *model.notes),
        contacts=tuple(contact_lines(tasks)),
    )
